import { useEffect, useState } from 'react';
import { Stick } from './stick.js';

/** What keeps a list at its end: one for as long as the component is mounted. */
export function useStick(): Stick {
  const [stick] = useState(() => new Stick());
  useEffect(() => () => stick.attach(null), [stick]);
  return stick;
}
