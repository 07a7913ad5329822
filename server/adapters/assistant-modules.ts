import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What ASSISTANTS names: modules that export an assistant, or a list of them, as `default`.
 *
 * @throws {Error} with one sentence, where a module cannot be loaded or exports no assistant
 */
export async function loadAssistantModules<A extends object>(paths: readonly string[]): Promise<A[]> {
  return (await Promise.all(paths.map((path) => loadModule<A>(path)))).flat();
}

async function loadModule<A extends object>(path: string): Promise<readonly A[]> {
  const { default: exported } = await importModule(path);
  const list: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  if (list.length > 0 && list.every((entry) => isAssistant<A>(entry))) return list;
  throw new Error(`${path} exports no assistant as its default`);
}

async function importModule(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  } catch (cause) {
    const [why = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new Error(`${path} cannot be loaded: ${why}`, { cause });
  }
}

function isAssistant<A extends object>(candidate: unknown): candidate is A {
  return candidate !== null && typeof candidate === 'object' && 'assistantId' in candidate && 'run' in candidate;
}
