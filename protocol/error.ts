import * as z from 'zod';

interface ErrorRow {
  readonly status: number;
  readonly retryable: boolean;
  readonly sentence: string;
}

/** Section 7: each code's HTTP status, whether a retry can help, and its sentence where the place of error has none of its own. */
export const ERRORS = {
  bad_request: { status: 400, retryable: false, sentence: 'The request is not of the expected form.' },
  unauthenticated: { status: 401, retryable: false, sentence: 'No valid identity was given.' },
  token_expired: { status: 401, retryable: true, sentence: 'The token has expired; refresh it.' },
  forbidden: { status: 403, retryable: false, sentence: 'You may not do this.' },
  not_found: { status: 404, retryable: false, sentence: 'There is nothing of this name.' },
  conflict: { status: 409, retryable: false, sentence: 'This does not fit the present state.' },
  idempotency_conflict: { status: 409, retryable: false, sentence: 'This requestId was used for something else.' },
  payload_too_large: { status: 413, retryable: false, sentence: 'This is larger than a limit allows.' },
  unsupported: { status: 415, retryable: false, sentence: 'This format or version is not supported.' },
  turn_busy: { status: 409, retryable: true, sentence: 'Another turn is running in this chat.' },
  queue_full: { status: 429, retryable: true, sentence: 'Too many turns are waiting in this chat.' },
  rate_limited: { status: 429, retryable: true, sentence: 'Too many commands; slow down.' },
  too_many_connections: { status: 429, retryable: true, sentence: 'This user has too many connections.' },
  turn_not_resumable: { status: 409, retryable: false, sentence: 'This turn cannot be resumed.' },
  turn_ended: { status: 409, retryable: false, sentence: 'This turn has ended.' },
  stale_attempt: { status: 409, retryable: false, sentence: 'Another holder or a newer attempt has taken over.' },
  seq_gap: { status: 409, retryable: false, sentence: 'A seq was left out.' },
  agent_unavailable: { status: 503, retryable: true, sentence: 'No agent serves this assistant at present.' },
  storage_unavailable: { status: 503, retryable: true, sentence: 'The storage does not answer at present.' },
  draining: { status: 503, retryable: true, sentence: 'The server is shutting down; try again soon.' },
  internal: { status: 500, retryable: true, sentence: 'Something went wrong on our side.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** The error object of acks, HTTP bodies and `connect_error.data`. */
export const errorBody = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.number().min(0).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorBody = z.infer<typeof errorBody>;

export interface ChatErrorOptions {
  /** Named values that a program can use: `limit`, `max`, `expected`, `index`, `path`, `activeRequestId`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The one error class: thrown anywhere, turned into a body at the edge, once. */
export class ChatError extends Error {
  override readonly name = 'ChatError';

  constructor(
    readonly code: ErrorCode,
    message: string = ERRORS[code].sentence,
    private readonly options: ChatErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
  }

  get details(): Readonly<Record<string, unknown>> {
    return this.options.details ?? {};
  }

  get retryAfterMs(): number | undefined {
    return this.options.retryAfterMs;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** A log or a page that writes it down writes what the wire would carry. */
  toJSON(): ErrorBody {
    return this.body();
  }

  /** What goes over the wire. */
  body(): ErrorBody {
    const { details, retryAfterMs } = this.options;
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(details === undefined ? {} : { details: { ...details } }),
    };
  }

  /** The error that a body stands for, on the side that received it. */
  static from(body: ErrorBody): ChatError {
    return new ChatError(body.code, body.message, {
      ...(body.details === undefined ? {} : { details: body.details }),
      ...(body.retryAfterMs === undefined ? {} : { retryAfterMs: body.retryAfterMs }),
    });
  }
}

/** `payload_too_large` that names the limit (DAT-3). */
export const tooLarge = (limit: string, max: number, more: Readonly<Record<string, unknown>> = {}): ChatError =>
  new ChatError('payload_too_large', `This exceeds ${limit} (${max}).`, { details: { limit, max, ...more } });
