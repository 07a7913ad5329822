/** Tells when a sleeping page or machine is back. @returns ends the telling */
export type WakeSource = (wake: () => void) => () => void;

type EventSource = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;
interface Surroundings extends Partial<EventSource> {
  readonly document?: EventSource & { readonly visibilityState: string };
}

/**
 * C58: a browser's `online`, its return from the back-forward cache and its page becoming visible. Elsewhere (Node, where
 * none of these exist) it never tells anything.
 */
export const browserWake: WakeSource = (wake) => {
  const here = globalThis as unknown as Surroundings;
  const { document } = here;
  const seen = (): void => {
    if (document?.visibilityState === 'visible') wake();
  };
  here.addEventListener?.('online', wake);
  here.addEventListener?.('pageshow', wake);
  document?.addEventListener('visibilitychange', seen);
  return () => {
    here.removeEventListener?.('online', wake);
    here.removeEventListener?.('pageshow', wake);
    document?.removeEventListener('visibilitychange', seen);
  };
};
