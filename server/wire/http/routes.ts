import { Router } from 'express';
import { commands, type CommandSpec, type HttpBinding } from '../../../protocol/index.js';
import type { DeskCommand } from '../../session/desk/chat-desk.js';
import type { Dispatch } from '../dispatch.js';
import { argumentReader } from './arguments.js';
import type { Callers } from './callers.js';
import { answerOtherMethods } from './errors.js';

export interface BoundCommand extends CommandSpec {
  readonly name: DeskCommand;
  readonly http: HttpBinding<unknown>;
}

/** The rows of the command table that have an HTTP route, in the order of the table. */
export const boundCommands: readonly BoundCommand[] = Object.entries(commands as Record<string, CommandSpec>).flatMap(
  // The commands that the desk does not run act on a connection, so they have no route.
  ([name, spec]) => (spec.http ? [{ ...spec, name: name as DeskCommand, http: spec.http }] : []),
);

/** Section 8: one route per bound command; a success answers with what an ack's `data` holds. */
export function createRoutes(dispatch: Dispatch, callers: Callers): Router {
  const router = Router({ caseSensitive: true });
  for (const command of boundCommands) {
    const { method, path } = command.http;
    const read = argumentReader(command.name, command);
    router[method](path, async (request, response) => {
      const data = await dispatch.command(command.name, callers.of(request), read(request));
      response.status(command.http.status(data)).json(data);
    });
  }
  for (const [path, methods] of methodsByPath()) router.all(path, answerOtherMethods(methods));
  return router;
}

function methodsByPath(): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { http } of boundCommands)
    byPath.set(http.path, [...(byPath.get(http.path) ?? []), http.method.toUpperCase()]);
  return byPath;
}
