import type { Subject } from './subject.js';

/**
 * A figure of Turnstream's `/metrics`, all its labels added up.
 *
 * @param series a name, or a name with all its labels
 * @returns NaN where there is none
 */
export async function metric({ port }: Subject, series: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${series} `) || line.startsWith(`${series}{`));
  if (lines.length === 0) return Number.NaN;
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
