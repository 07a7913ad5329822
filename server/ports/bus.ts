/**
 * LIF-4: messages from node to node.
 *
 * Promises of every implementation (`test/contract/bus.ts`):
 *
 * - Messages of one node to another arrive in the order in which they were sent, each at most once.
 * - What does not arrive is told: {@link Bus.onGap} comes before the next message from that node, and within seconds where
 *   there is none. A connection that breaks loses nothing. Messages are lost by a service that loses its data, by more than
 *   16 Mi characters to one receiver that the service has not taken yet (it is away, or slower), and by a receiver that reads
 *   too slowly.
 * - A receiver that is not there yet gets what was sent to it in the minute before.
 *
 * No listener throws.
 */
export interface Bus {
  /** Never throws, never waits; what is sent within one tick of the event loop goes out together. */
  send(to: string, message: string): void;
  onMessage(listener: (from: string, message: string) => void): void;
  /** Something from this node was lost, or may have been: what depends on it has to be asked for anew. Every listener is told. */
  onGap(listener: (from: string) => void): void;
  /** The node is no more: what waits for it is dropped, and nothing of it is remembered. */
  forget(nodeId: string): void;
  /** Whether messages go out and come in at present. */
  readonly isUp: boolean;
  /** Sends what waits, as far as that is possible at once, and ends. */
  close(): Promise<void>;
}
