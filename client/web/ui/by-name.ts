/** One of several, always the same of a name. */
export function byName<T>(name: string, choices: readonly [T, ...T[]]): T {
  let sum = 0;
  for (let index = 0; index < name.length; index++) sum = (sum * 31 + name.charCodeAt(index)) >>> 0;
  return choices[sum % choices.length] ?? choices[0];
}
