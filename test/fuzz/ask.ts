import type { Ack, ErrorCode } from '../../protocol/index.js';
import type { Peer } from '../harness/peer.js';
import type { World } from './world.js';

/** Refusals that people and agents have to live with, by command; any other is a fault. */
const USUAL: readonly ErrorCode[] = ['not_found', 'forbidden', 'conflict', 'storage_unavailable', 'draining'];
const REFUSALS: Readonly<Record<string, readonly ErrorCode[]>> = {
  'turn:start': ['turn_busy', 'queue_full'],
  'turn:resume': ['turn_not_resumable', 'queue_full', 'bad_request'],
  'turn:open': ['queue_full'],
};

/** The answer to a command, null where it was lost with the connection. Silence on a connection that stands is a fault (CON-4). */
export async function ask(world: World, peer: Peer, command: string, args: object): Promise<Ack<unknown> | null> {
  const { socket } = peer;
  if (!socket?.connected) return null;
  try {
    const ack: Ack<unknown> = await peer.ask(command, args, world.patienceMs * 1.5);
    if (ack.ok) return ack;
    const sent = `${command} ${JSON.stringify(args)}`;
    world.trace(`${sent} was refused: ${ack.error.code}`);
    const isUsual = [...USUAL, ...(REFUSALS[command] ?? [])].includes(ack.error.code);
    if (!isUsual) world.fault(`${sent}: ${JSON.stringify(ack.error)}`);
    return ack;
  } catch (error) {
    if (socket.connected) world.fault(`CON-4: ${command} was not answered: ${String(error)}`);
    return null;
  }
}
