/** An object's methods of these names, bound to it. */
type Bound<T, K extends keyof T> = { readonly [N in K]: T[N] };

/**
 * Methods of an object that can be passed on by themselves: the same functions for the same object, for the dependencies of
 * effects and for memoised components.
 */
export function boundActions<T extends object, K extends keyof T>(names: readonly K[]): (of: T) => Bound<T, K> {
  const known = new WeakMap<T, Bound<T, K>>();
  return (of) => {
    const held = known.get(of);
    if (held) return held;
    const entries = names.map((name) => [name, (of[name] as (...args: unknown[]) => unknown).bind(of)]);
    const made = Object.fromEntries(entries) as Bound<T, K>;
    known.set(of, made);
    return made;
  };
}
