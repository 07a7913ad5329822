/** Time as the client knows it; tests bring their own. The only file of the client that has timers. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Calls back once after `ms` milliseconds, never before it has returned. */
  after(ms: number, callback: () => void): Timer;
}

export interface Timer {
  /** Harmless after the timer has fired. */
  cancel(): void;
}

/** The system's timers. They keep a Node process alive, so that a client that waits to reconnect does reconnect. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};
