import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What ASSISTANTS names: modules that export an assistant, or a list of them, as `default`. */
export async function loadAssistantModules<A>(paths: readonly string[]): Promise<A[]> {
  const modules = await Promise.all(
    paths.map(async (path) => (await import(pathToFileURL(resolve(path)).href)) as { default: A | A[] }),
  );
  return modules.flatMap((module) => module.default);
}
