/** One object per key, the same one as long as anybody has it. It goes with its last reference. */
export class Interned<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (!this.#known.get(key)?.deref()) this.#known.delete(key);
  });

  get(key: string, create: () => T): T {
    const held = this.#known.get(key)?.deref();
    if (held) return held;
    const made = create();
    this.#known.set(key, new WeakRef(made));
    this.#gone.register(made, key);
    return made;
  }
}
