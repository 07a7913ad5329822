import type { Assistant } from '../../assistant/index.js';
import type { AgentArgsInput, Chat, ChatError, Turn } from '../../protocol/index.js';
import type { Backoff } from '../backoff.js';
import type { Clock } from '../clock.js';
import type { ConnectionState } from '../connection-state.js';
import type { IdSource } from '../id-source.js';
import type { Store } from '../store.js';
import type { DevelopmentAuth, TokenSource } from '../token.js';
import type { Transport } from '../transport.js';
import type { SinkBounds } from './frame-sink.js';
import type { FrameEnding } from './held-frame.js';

/** Which run of which assistant threw. */
export interface FailedRun {
  readonly assistantId: string;
  readonly chatId: string;
  readonly requestId: string;
}

export interface AgentOptions extends Partial<SinkBounds> {
  /** Where the server listens: `https://chat.example`. Not needed with a transport of one's own. */
  readonly url?: string;
  /** A token whose roles hold `agent`, or a function that is asked for one before each attempt to connect. */
  readonly token?: TokenSource;
  /** Who the agent says to be, for a server without authentication. Default: the server's. */
  readonly auth?: DevelopmentAuth;
  /** Names this agent over its reconnections and restarts; a second process of the same name takes over from the first. */
  readonly agentId: string;
  readonly assistants: readonly Assistant[];
  /** Frames that may run at the same time, 1…1,000. Default 10. */
  readonly concurrency?: number;
  /** Is told what an assistant threw: people see a code and a sentence only. Default: it is written to the console. */
  readonly onError?: (error: unknown, about: FailedRun) => void;
  /** Is told when the agent is closed for good and nothing is tried any more. Default: it is written to the console. */
  readonly onClosed?: (error: ChatError) => void;
  /** Waits between attempts to connect. Defaults: 250 ms … 10 s, factor 1.7, full jitter. */
  readonly backoff?: Partial<Backoff>;
  /** Limit on one attempt to connect, the token included, milliseconds. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** How long frames go on without a connection, milliseconds. The server's own grace (15 s) ends them earlier. Default 60,000. */
  readonly lostAfterMs?: number;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly transport?: Transport;
}

export interface AgentState {
  readonly connection: ConnectionState;
  /** Whether the server may assign turns. */
  readonly attached: boolean;
  /** Frames that run here. */
  readonly running: number;
  /** Whether nothing new is taken, because the agent is being closed. */
  readonly draining: boolean;
}

export type OpenTurnArgs = AgentArgsInput<'turn:open'>;

/** A background turn of the agent's own. */
export interface OpenedTurn {
  readonly turn: Turn;
  readonly chat: Chat;
  /** Resolves when the turn has ended and the server has been told, or has ended it itself. Never rejects. */
  readonly ended: Promise<FrameEnding>;
}

export interface CloseOptions {
  /** Whether frames that run may come to their end first. Default true. */
  readonly drain?: boolean;
  /** How long they may take, milliseconds; then they are closed as interrupted, and can be resumed. Default 30,000. */
  readonly drainMs?: number;
}

/** Assistants that run here, for a server elsewhere. */
export interface Agent {
  readonly state: Store<AgentState>;
  /**
   * Opens a background turn that no person started, and runs it. Idempotent by its requestId, which is made where none is
   * given.
   *
   * @throws {ChatError} `forbidden`: an assistant that this agent has not attached; `queue_full`; `conflict`: it runs already
   */
  openTurn(args: OpenTurnArgs, run: Assistant['run']): Promise<OpenedTurn>;
  /** Takes nothing new, lets what runs end or ends it, and disconnects. */
  close(options?: CloseOptions): Promise<void>;
}
