import { until } from './until.js';

/** What `readyz` says: the status, and which parts are well. */
export async function readiness(url: string): Promise<readonly [status: number, checks: Record<string, boolean>]> {
  const response = await fetch(`${url}/readyz`);
  return [response.status, ((await response.json()) as { checks: Record<string, boolean> }).checks];
}

/** Waits until it is ready, or is not because of exactly these parts. */
export async function readyBut(url: string, ...failing: readonly string[]): Promise<void> {
  await until(
    async () => {
      const [status, { draining: _draining, ...parts }] = await readiness(url);
      const isWrong = Object.entries(parts).some(([part, isWell]) => isWell === failing.includes(part));
      return status === (failing.length === 0 ? 200 : 503) && !isWrong;
    },
    `readyz but for ${failing.join(', ') || 'nothing'}`,
    30_000,
  );
}
