import { useSyncExternalStore } from 'react';
import { Held } from '../store.js';
import { kept } from './session/storage.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const themeOf = (name: string | null): Theme => THEMES.find((theme) => theme === name) ?? 'system';
const chosen = new Held<Theme>(themeOf(kept.get('theme')));
const system = matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
  const theme = chosen.getSnapshot();
  const isDark = theme === 'dark' || (theme === 'system' && system.matches);
  document.documentElement.classList.toggle('dark', isDark);
}

/** Keeps the page in its colours: those chosen here, else the system's. */
export function followTheme(): void {
  apply();
  system.addEventListener('change', apply);
  chosen.subscribe(apply);
}

export const useTheme = (): Theme => useSyncExternalStore(chosen.subscribe, chosen.getSnapshot);

export function setTheme(theme: Theme): void {
  kept.set('theme', theme === 'system' ? null : theme);
  chosen.set(theme);
}
