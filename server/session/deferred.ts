/** A promise and the hand that settles it. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Nobody has to wait for it: a rejection is seen by those who do.
    this.promise.catch(() => undefined);
  }
}
