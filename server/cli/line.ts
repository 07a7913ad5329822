import { createChatClient, type ChatClient } from '../../client/index.js';
import type { Options } from './options.js';
import { UsageError } from './usage-error.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** A connection to a server that a person watches. */
export interface Line {
  readonly client: ChatClient;
  /** Rejects, with one line to show, when no server answers at first, or when there will be no connection any more. */
  readonly broken: Promise<never>;
}

/**
 * Connects. A connection that is lost later is made again, and `note` is told.
 *
 * @throws {UsageError} an address that is none
 */
export function openLine(options: Options, note: (sentence: string) => void): Line {
  const url = options.url ?? (process.env['TURNSTREAM_URL'] || DEFAULT_URL);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`${url} is no address such as ${DEFAULT_URL}`);
  const token = options.token ?? process.env['TURNSTREAM_TOKEN'];
  const client = createChatClient({
    url,
    messageLimit: 200,
    ...(token ? { token } : {}),
    ...(options.user === undefined ? {} : { auth: { userId: options.user } }),
  });
  const broken = new Promise<never>((_, reject) => watch(client, url, note, reject));
  broken.catch(() => undefined);
  return { client, broken };
}

function watch(
  client: ChatClient,
  url: string,
  note: (sentence: string) => void,
  reject: (error: Error) => void,
): void {
  let wasOpen = false;
  let isLost = false;
  const look = (): void => {
    const state = client.connection.getSnapshot();
    if (state.status === 'open') {
      if (isLost) note('connected again');
      wasOpen = true;
      isLost = false;
    } else if (state.status === 'waiting' && !wasOpen) {
      const isSilent = state.error.details['reason'] === 'unreachable';
      reject(isSilent ? new Error(`no server answers at ${url}; is it running?`) : state.error);
    } else if (state.status === 'waiting' && !isLost) {
      isLost = true;
      note('the connection is lost; trying again');
    } else if (state.status === 'closed' && state.error) reject(state.error);
  };
  client.connection.subscribe(look);
  look();
}
