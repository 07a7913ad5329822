var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// .b5.ts
import { monitorEventLoopDelay } from "node:perf_hooks";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";

// server/adapters/prisma/open.ts
import { mkdir } from "node:fs/promises";
import { dirname as dirname2 } from "node:path";

// server/adapters/prisma/migrate.ts
import Database from "better-sqlite3";
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// protocol/agent-commands.ts
import { z as z14 } from "zod";

// protocol/chat.ts
import { z as z3 } from "zod";

// protocol/ids.ts
import { z } from "zod";
var id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: "expected 1 to 64 letters, digits, _ or -" });
var agentMadeId = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/, { error: "expected 16 to 64 letters, digits, _ or -" });
var assistantId = z.string().regex(/^[A-Za-z0-9_.:-]{1,200}$/, { error: "expected 1 to 200 letters, digits, _ . : or -" });
var principalId = z.string().min(1).max(200);
var isoTime = z.iso.datetime({ precision: 3 });

// protocol/json.ts
import { z as z2 } from "zod";

// protocol/text.ts
var ILL_FORMED = /\p{Surrogate}|\0/gu;
var REPLACEMENT = "\uFFFD";
function wellFormed(text2) {
  return text2.replace(ILL_FORMED, REPLACEMENT);
}

// protocol/json.ts
var MAX_JSON_DEPTH = 64;
var MAX_JSON_NODES = 2e6;
var FORBIDDEN_KEYS = /* @__PURE__ */ new Set(["__proto__", "prototype", "constructor"]);
var isForbiddenKey = (key) => FORBIDDEN_KEYS.has(key);
var isJsonObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
var JsonFault = class extends Error {
  constructor(message2, path3) {
    super(message2);
    this.path = path3;
  }
  path;
};
function cleanJson(value) {
  const tasks = [];
  let nodes = 0;
  const admit = (inner, path3) => {
    if (inner === null || typeof inner === "boolean") return inner;
    if (typeof inner === "string") return wellFormed(inner);
    if (typeof inner === "number") {
      if (!Number.isFinite(inner)) throw new JsonFault("a number that is not finite", path3);
      return Object.is(inner, -0) ? 0 : inner;
    }
    if (typeof inner !== "object") throw new JsonFault(`a value of type ${typeof inner} is not JSON`, path3);
    if (path3.length >= MAX_JSON_DEPTH) throw new JsonFault(`nested deeper than ${MAX_JSON_DEPTH} levels`, path3.slice(0, 8));
    if (++nodes > MAX_JSON_NODES) throw new JsonFault("too many values", []);
    const target = Array.isArray(inner) ? [] : {};
    if (!Array.isArray(inner) && !isPlain(inner)) throw new JsonFault("an object that is not plain", path3);
    tasks.push({ source: inner, target, path: path3 });
    return target;
  };
  const root = admit(value, []);
  for (let task = tasks.pop(); task; task = tasks.pop()) {
    const { source, target, path: path3 } = task;
    if (Array.isArray(target)) {
      for (const [index, inner] of source.entries()) target.push(admit(inner, [...path3, index]));
      continue;
    }
    for (const [key, inner] of Object.entries(source)) {
      if (isForbiddenKey(key)) throw new JsonFault(`the key ${key} is not allowed`, path3);
      if (inner === void 0) continue;
      const clean = wellFormed(key);
      target[clean] = admit(inner, [...path3, clean]);
    }
  }
  return root;
}
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}
function cleaned(value, context) {
  try {
    return cleanJson(value);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    context.addIssue({ code: "custom", message: error.message, path: [...error.path] });
    return z2.NEVER;
  }
}
var json = z2.unknown().transform(cleaned).meta({ description: "Any JSON value, at most 64 levels deep." });
var jsonObject = z2.custom((value) => isJsonObject(value), { error: "expected a JSON object" }).transform((value, context) => cleaned(value, context));

// protocol/chat.ts
var chatStatus = z3.enum(["active", "archived"]);
var share = z3.enum(["private", "team"]);
var title = z3.string().max(500).transform(wellFormed);
var mode = z3.string().min(1).max(50).transform(wellFormed);
var metadata = jsonObject.nullable();
var chat = z3.object({
  chatId: id,
  title: title.nullable(),
  assistantId,
  mode,
  status: chatStatus,
  preset: z3.boolean(),
  public: z3.boolean(),
  share,
  sort: z3.int(),
  lastMessageAt: isoTime.nullable(),
  metadata,
  createdBy: principalId,
  teamId: principalId.nullable(),
  tenantId: principalId.nullable(),
  createdAt: isoTime,
  updatedAt: isoTime
});
var chatPatch = z3.object({
  title: title.nullable().optional(),
  status: chatStatus.optional(),
  mode: mode.optional(),
  public: z3.boolean().optional(),
  share: share.optional(),
  sort: z3.int().min(-2147483648).max(2147483647).optional(),
  metadata: metadata.optional()
});

// protocol/commands.ts
import { z as z13 } from "zod";

// protocol/command.ts
import { z as z5 } from "zod";

// protocol/error.ts
import { z as z4 } from "zod";
var ERRORS = {
  bad_request: { status: 400, retryable: false, sentence: "The request is not of the expected form." },
  unauthenticated: { status: 401, retryable: false, sentence: "No valid identity was given." },
  token_expired: { status: 401, retryable: true, sentence: "The token has expired; refresh it." },
  forbidden: { status: 403, retryable: false, sentence: "You may not do this." },
  not_found: { status: 404, retryable: false, sentence: "There is nothing of this name." },
  conflict: { status: 409, retryable: false, sentence: "This does not fit the present state." },
  idempotency_conflict: { status: 409, retryable: false, sentence: "This requestId was used for something else." },
  payload_too_large: { status: 413, retryable: false, sentence: "This is larger than a limit allows." },
  unsupported: { status: 415, retryable: false, sentence: "This format or version is not supported." },
  turn_busy: { status: 409, retryable: true, sentence: "Another turn is running in this chat." },
  queue_full: { status: 429, retryable: true, sentence: "Too many turns are waiting in this chat." },
  rate_limited: { status: 429, retryable: true, sentence: "Too many commands; slow down." },
  too_many_connections: { status: 429, retryable: true, sentence: "This user has too many connections." },
  turn_not_resumable: { status: 409, retryable: false, sentence: "This turn cannot be resumed." },
  turn_ended: { status: 409, retryable: false, sentence: "This turn has ended." },
  stale_attempt: { status: 409, retryable: false, sentence: "Another holder or a newer attempt has taken over." },
  seq_gap: { status: 409, retryable: false, sentence: "A seq was left out." },
  agent_unavailable: { status: 503, retryable: true, sentence: "No agent serves this assistant at present." },
  storage_unavailable: { status: 503, retryable: true, sentence: "The storage does not answer at present." },
  draining: { status: 503, retryable: true, sentence: "The server is shutting down; try again soon." },
  internal: { status: 500, retryable: true, sentence: "Something went wrong on our side." }
};
var ERROR_CODES = Object.keys(ERRORS);
var errorBody = z4.object({
  code: z4.enum(ERROR_CODES),
  message: z4.string(),
  retryable: z4.boolean(),
  retryAfterMs: z4.number().min(0).optional(),
  details: z4.record(z4.string(), z4.unknown()).optional()
});
var ChatError = class _ChatError extends Error {
  constructor(code, message2 = ERRORS[code].sentence, options = {}) {
    super(message2, { cause: options.cause });
    this.code = code;
    this.options = options;
  }
  code;
  options;
  name = "ChatError";
  get details() {
    return this.options.details ?? {};
  }
  get retryAfterMs() {
    return this.options.retryAfterMs;
  }
  get retryable() {
    return ERRORS[this.code].retryable;
  }
  /** What goes over the wire. */
  body() {
    const { details, retryAfterMs } = this.options;
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...retryAfterMs === void 0 ? {} : { retryAfterMs },
      ...details === void 0 ? {} : { details: { ...details } }
    };
  }
  /** The error that a body stands for, on the side that received it. */
  static from(body) {
    return new _ChatError(body.code, body.message, {
      ...body.details === void 0 ? {} : { details: body.details },
      ...body.retryAfterMs === void 0 ? {} : { retryAfterMs: body.retryAfterMs }
    });
  }
};

// protocol/command.ts
function command(spec2) {
  const { socket = true, http, ...rest } = spec2;
  return { ...rest, socket, ...http ? { http: { status: () => 200, ...http } } : {} };
}

// protocol/event.ts
import { z as z10 } from "zod";

// protocol/message.ts
import { z as z7 } from "zod";

// protocol/limits.ts
import { z as z6 } from "zod";
var limits = z6.object({
  maxFrameBytes: z6.int(),
  maxMessageBytes: z6.int(),
  maxTurnBytes: z6.int(),
  maxMessagesPerTurn: z6.int(),
  maxInputMessages: z6.int(),
  maxPageBytes: z6.int(),
  maxQueuedTurns: z6.int()
});
var MiB = 1024 * 1024;
var DEFAULT_LIMITS = {
  maxFrameBytes: MiB,
  maxMessageBytes: 4 * MiB,
  maxTurnBytes: 32 * MiB,
  maxMessagesPerTurn: 1e4,
  maxInputMessages: 100,
  maxPageBytes: MiB,
  maxQueuedTurns: 16
};

// protocol/message.ts
var role = z7.enum(["user", "assistant"]);
var SIGNAL_TYPE = "event";
var messageType = z7.string().min(1).max(50).regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: "expected a type without control characters" });
var message = z7.object({
  messageId: id,
  chatId: id,
  requestId: id.nullable(),
  role,
  type: messageType,
  props: jsonObject,
  blockId: id.nullable(),
  threadId: id.nullable(),
  stepId: id.nullable(),
  assistantId: assistantId.nullable(),
  sequence: z7.int().min(1),
  state: z7.enum(["open", "closed"]),
  metadata,
  createdAt: isoTime,
  updatedAt: isoTime
});
var inputObject = z7.object({
  type: messageType.refine((type) => type !== SIGNAL_TYPE, { error: "a signal is no input" }),
  props: jsonObject,
  blockId: id.nullable().optional(),
  threadId: id.nullable().optional(),
  metadata: metadata.optional()
});
var inputMessage = z7.union([
  z7.string().transform((content) => inputObject.parse({ type: "text", props: { content } })),
  inputObject
]);
var tooMany = { limit: "maxInputMessages", max: DEFAULT_LIMITS.maxInputMessages };
var turnInput = z7.union([
  inputMessage.transform((one) => [one]),
  z7.array(z7.unknown()).min(1).refine((list) => list.length <= tooMany.max, { error: `at most ${tooMany.max} input messages`, params: tooMany, abort: true }).pipe(z7.array(inputMessage))
]);

// protocol/step.ts
import { z as z8 } from "zod";
var stepType = z8.enum(["input", "hook_create", "llm", "tool", "hook_next", "delegate"]);
var stepStatus = z8.enum(["pending", "running", "completed", "failed", "interrupted"]);
var step = z8.object({
  stepId: id,
  chatId: id,
  requestId: id,
  assistantId,
  stackId: id,
  stackParentId: id.nullable(),
  stackDepth: z8.int().min(0),
  type: stepType,
  status: stepStatus,
  input: json.nullable(),
  output: json.nullable(),
  spaceSnapshot: jsonObject.nullable(),
  error: json.nullable(),
  sequence: z8.int().min(1),
  metadata,
  createdAt: isoTime,
  updatedAt: isoTime
});
var stepSummary = step.omit({ input: true, output: true, spaceSnapshot: true });

// protocol/turn.ts
import { z as z9 } from "zod";
var turnStatus = z9.enum(["queued", "running", "completed", "interrupted", "failed"]);
var STOP_REASONS = {
  stopped: "interrupted",
  superseded: "interrupted",
  deleted: "interrupted",
  agent_lost: "interrupted",
  shutdown: "interrupted",
  crashed: "interrupted",
  timeout: "interrupted",
  error: "failed",
  agent_unavailable: "failed"
};
var stopReason = z9.enum(Object.keys(STOP_REASONS));
var text = z9.string().max(1e4).transform(wellFormed);
var turnError = z9.union([
  z9.object({ code: text.default("error"), message: text }),
  text.transform((message2) => ({ code: "error", message: message2 }))
]);
var turn = z9.object({
  requestId: id,
  chatId: id,
  assistantId,
  status: turnStatus,
  background: z9.boolean(),
  attempt: z9.int().min(1),
  stopReason: stopReason.nullable(),
  error: z9.object({ code: z9.string(), message: z9.string() }).nullable(),
  usage: json.nullable(),
  metadata,
  createdBy: principalId,
  createdAt: isoTime,
  startedAt: isoTime.nullable(),
  endedAt: isoTime.nullable()
});
var isEnded = (status) => status !== "queued" && status !== "running";

// protocol/event.ts
var envelope = {
  chatId: id,
  epoch: z10.string(),
  offset: z10.int().min(1),
  at: isoTime,
  requestId: id.optional()
};
var event = (type, fields) => z10.object({ ...envelope, type: z10.literal(type), ...fields });
var chatEvent = z10.discriminatedUnion("type", [
  event("turn.queued", { turn }),
  event("turn.started", { turn }),
  event("turn.ended", { turn, persisted: z10.boolean() }),
  event("turn.persisted", {}),
  event("message.created", { message }),
  event("message.appended", { messageId: id, path: z10.string(), from: z10.int().min(0), text: z10.string() }),
  event("message.replaced", { messageId: id, messageType, props: jsonObject }),
  event("message.merged", { messageId: id, path: z10.string(), value: json }),
  event("message.set", { messageId: id, path: z10.string(), value: json }),
  event("message.closed", { messageId: id }),
  event("message.updated", { message }),
  event("message.deleted", { messageIds: z10.array(id) }),
  event("step.started", { step: stepSummary }),
  event("step.ended", { step: stepSummary }),
  event("chat.updated", { chat }),
  event("chat.deleted", {})
]);

// protocol/position.ts
import { z as z11 } from "zod";
var position = z11.object({ epoch: z11.string().min(1).max(64), offset: z11.int().min(0) });

// protocol/presence.ts
import { z as z12 } from "zod";
var presentUser = z12.object({ userId: principalId, typing: z12.boolean() });
var presence = z12.object({ chatId: id, users: z12.array(presentUser) });
var signal = z12.object({ chatId: id, requestId: id, name: z12.string(), data: json });

// protocol/commands.ts
var limit = z13.int().min(1).max(200);
var sequence = z13.int().min(0).max(Number.MAX_SAFE_INTEGER);
var page = {
  limit: limit.default(50).meta({ description: "At most this many; alone: the newest, ascending." })
};
var onBusy = z13.enum(["enqueue", "reject", "interrupt", "parallel"]);
var turnStartArgs = z13.object({
  chatId: id,
  input: turnInput.optional(),
  regenerate: id.optional(),
  requestId: id.optional(),
  assistantId: assistantId.optional(),
  onBusy: onBusy.default("enqueue"),
  createChat: z13.boolean().default(false),
  metadata: metadata.optional()
}).refine((args) => args.input === void 0 !== (args.regenerate === void 0), {
  error: "expected either input or regenerate",
  path: ["input"]
});
var messageFilter = {
  requestId: id.optional(),
  role: role.optional(),
  blockId: id.optional(),
  threadId: id.optional(),
  type: messageType.optional()
};
var subscribeResult = z13.object({
  chat,
  position,
  mode: z13.enum(["snapshot", "replay"]),
  events: z13.array(chatEvent).optional(),
  messages: z13.array(message).optional(),
  hasMore: z13.boolean().optional(),
  turns: z13.array(turn).optional(),
  presence: z13.array(presentUser)
});
var commands = {
  "chat:create": command({
    summary: "Creates a chat; the same chatId again by its owner gives the existing one.",
    args: z13.object({
      chatId: id.optional(),
      assistantId,
      title: title.nullable().optional(),
      mode: mode.optional(),
      preset: z13.boolean().optional(),
      public: z13.boolean().optional(),
      share: share.optional(),
      sort: chatPatch.shape.sort,
      metadata: metadata.optional()
    }),
    result: z13.object({ chat, created: z13.boolean() }),
    right: "any",
    http: { method: "post", path: "/v1/chats", status: (result) => result.created ? 201 : 200 }
  }),
  "chat:list": command({
    summary: "Lists chats, newest activity first.",
    args: z13.object({
      scope: z13.enum(["mine", "team", "public", "all"]).default("mine"),
      assistantId: assistantId.optional(),
      status: chatStatus.optional(),
      keywords: z13.string().max(500).transform(wellFormed).optional().meta({ description: "A literal, case-insensitive part of the title." }),
      page: z13.int().min(1).max(1e6).default(1),
      pageSize: z13.int().min(1).max(100).default(20)
    }),
    result: z13.object({ data: z13.array(chat), page: z13.int(), pageSize: z13.int(), pageCount: z13.int(), total: z13.int() }),
    right: "any",
    http: { method: "get", path: "/v1/chats" }
  }),
  "chat:get": command({
    summary: "Gives one chat.",
    args: z13.object({ chatId: id }),
    result: z13.object({ chat }),
    right: "read",
    http: { method: "get", path: "/v1/chats/:chatId" }
  }),
  "chat:update": command({
    summary: "Changes fields of a chat.",
    args: z13.object({ chatId: id, ...chatPatch.shape }),
    result: z13.object({ chat }),
    right: "change",
    http: { method: "patch", path: "/v1/chats/:chatId" }
  }),
  "chat:delete": command({
    summary: "Ends the turns of a chat and hides it with all that it holds, for good.",
    args: z13.object({ chatId: id }),
    result: z13.object({ chatId: id }),
    right: "change",
    http: { method: "delete", path: "/v1/chats/:chatId" }
  }),
  "chat:subscribe": command({
    summary: "Follows a chat: a snapshot or what was missed, then every event.",
    args: z13.object({ chatId: id, position: position.optional(), messageLimit: limit.default(50) }),
    result: subscribeResult,
    right: "read"
  }),
  "chat:unsubscribe": command({
    summary: "Follows a chat no more.",
    args: z13.object({ chatId: id }),
    result: z13.object({ chatId: id }),
    right: "any"
  }),
  "message:list": command({
    summary: "Gives messages of a chat, ascending by sequence.",
    args: z13.object({
      chatId: id,
      ...page,
      before: sequence.optional().meta({ description: "Only sequences below this one." }),
      after: sequence.optional().meta({ description: "Only sequences above this one, the nearest first." }),
      offset: z13.int().min(0).max(1e9).optional().meta({ description: "Skips this many from the oldest." }),
      ...messageFilter
    }),
    result: z13.object({ messages: z13.array(message), hasMore: z13.boolean(), position }),
    right: "read",
    http: { method: "get", path: "/v1/chats/:chatId/messages" }
  }),
  "message:update": command({
    summary: "Edits a closed message.",
    args: z13.object({ messageId: id, props: jsonObject.optional(), type: messageType.optional(), metadata: metadata.optional() }).refine((args) => args.props !== void 0 || args.type !== void 0 || args.metadata !== void 0, {
      error: "expected props, type or metadata",
      path: ["props"]
    }),
    result: z13.object({ message }),
    right: "change",
    http: { method: "patch", path: "/v1/messages/:messageId" }
  }),
  "message:delete": command({
    summary: "Deletes messages of a chat.",
    args: z13.object({ chatId: id, messageIds: z13.array(id).min(1).max(1e3) }),
    result: z13.object({ messageIds: z13.array(id) }),
    right: "change",
    http: { method: "delete", path: "/v1/chats/:chatId/messages" }
  }),
  "turn:start": command({
    summary: "Starts a turn; once per requestId, for ever.",
    args: turnStartArgs,
    result: z13.object({ turn, messages: z13.array(message), duplicate: z13.boolean() }),
    right: "talk",
    http: { method: "post", path: "/v1/chats/:chatId/turns", status: () => 202 }
  }),
  "turn:stop": command({
    summary: "Stops a turn; without requestId the running foreground turn.",
    args: z13.object({ chatId: id.optional(), requestId: id.optional() }).refine((args) => args.chatId !== void 0 || args.requestId !== void 0, {
      error: "expected chatId or requestId",
      path: ["chatId"]
    }),
    result: z13.object({ turn }),
    right: "talk",
    http: { method: "post", path: "/v1/turns/:requestId/stop" }
  }),
  "turn:resume": command({
    summary: "Starts the next attempt of an incomplete turn; without requestId of the newest one.",
    args: z13.object({ chatId: id.optional(), requestId: id.optional(), attempt: z13.int().min(1).optional() }).refine((args) => args.chatId !== void 0 || args.requestId !== void 0, { error: "expected chatId or requestId", path: ["chatId"] }),
    result: z13.object({ turn, duplicate: z13.boolean() }),
    right: "talk",
    http: { method: "post", path: "/v1/turns/:requestId/resume", status: () => 202 }
  }),
  "turn:get": command({
    summary: "Gives one turn.",
    args: z13.object({ requestId: id }),
    result: z13.object({ turn }),
    right: "read",
    http: { method: "get", path: "/v1/turns/:requestId" }
  }),
  "turn:list": command({
    summary: "Gives the turns of a chat, newest first.",
    args: z13.object({ chatId: id, before: id.optional(), ...page }),
    result: z13.object({ turns: z13.array(turn), hasMore: z13.boolean() }),
    right: "read",
    http: { method: "get", path: "/v1/chats/:chatId/turns" }
  }),
  "step:list": command({
    summary: "Gives the steps of a turn, ascending.",
    args: z13.object({ requestId: id }),
    result: z13.object({ steps: z13.array(step) }),
    right: "talk",
    http: { method: "get", path: "/v1/turns/:requestId/steps" }
  }),
  "step:stack": command({
    summary: "Gives the steps of one stack, ascending.",
    args: z13.object({ stackId: id }),
    result: z13.object({ steps: z13.array(step) }),
    right: "talk",
    socket: false,
    http: { method: "get", path: "/v1/stacks/:stackId/steps" }
  }),
  "step:path": command({
    summary: "Gives the stack ids from the root to this stack.",
    args: z13.object({ stackId: id }),
    result: z13.object({ path: z13.array(id) }),
    right: "talk",
    socket: false,
    http: { method: "get", path: "/v1/stacks/:stackId/path" }
  }),
  "step:incomplete": command({
    summary: "Gives the step at which the newest incomplete turn stopped, or null.",
    args: z13.object({ chatId: id }),
    result: z13.object({ step: step.nullable() }),
    right: "talk",
    socket: false,
    http: { method: "get", path: "/v1/chats/:chatId/incomplete-step" }
  }),
  typing: command({
    summary: "Tells the others in a chat whether the caller is typing.",
    args: z13.object({ chatId: id, typing: z13.boolean() }),
    result: z13.object({}),
    right: "talk"
  }),
  "auth:refresh": command({
    summary: "Renews the identity of this connection in place; the same user only.",
    args: z13.object({ token: z13.string().min(1).max(16384) }),
    result: z13.object({ expiresAt: z13.string().nullable() }),
    right: "any"
  })
};

// protocol/agent-commands.ts
var attempt = z14.int().min(1);
var seq = z14.int().min(1);
var frame = { requestId: id, attempt, stackId: id.optional() };
var frameEnd = z14.enum(["completed", "failed", "interrupted"]);
var stackPath = z14.array(z14.object({ stackId: id, assistantId, stackDepth: z14.int().min(0) }));
var resumeStep = step.extend({ stackPath });
var assignment = z14.object({
  turn,
  chat,
  stackId: id,
  stackParentId: id.nullable(),
  stackDepth: z14.int().min(0),
  input: z14.array(message),
  history: z14.array(message),
  space: jsonObject,
  resume: z14.object({ steps: z14.array(resumeStep), completedSteps: z14.array(step), messages: z14.array(message) }).nullable()
});
var turnAbort = z14.object({ requestId: id, attempt, stackId: id, reason: z14.string() });
var spec = (summary, args, result) => ({ summary, args, result });
var agentCommands = {
  "agent:attach": spec(
    "Offers assistants; answers what this agentId still holds.",
    z14.object({
      agentId: principalId,
      assistants: z14.array(z14.object({ assistantId, name: z14.string().min(1).max(200).optional() })).min(1).max(1e3),
      concurrency: z14.int().min(1).max(1e3).default(10)
    }),
    z14.object({ assigned: z14.array(z14.object({ requestId: id, attempt, stackId: id, lastSeq: z14.int().min(0) })) })
  ),
  "turn:open": spec(
    "Opens a background turn that no person started.",
    z14.object({
      chatId: id,
      assistantId,
      requestId: id.optional(),
      createChat: z14.object({
        createdBy: principalId,
        title: title.nullable().optional(),
        teamId: principalId.nullable().optional(),
        share: share.optional(),
        public: z14.boolean().optional()
      }).optional(),
      metadata: metadata.optional()
    }),
    z14.object({ turn, attempt, stackId: id })
  ),
  "turn:push": spec(
    "Applies ops, all or none.",
    z14.object({ ...frame, seq, ops: z14.array(z14.unknown()) }),
    z14.object({ seq: z14.int().min(0) })
  ),
  "turn:close": spec(
    "Ends a frame; for the root frame the turn.",
    z14.object({
      ...frame,
      seq,
      status: frameEnd,
      output: json.optional(),
      error: turnError.nullable().optional(),
      usage: json.optional()
    }),
    z14.union([z14.object({ turn, persisted: z14.boolean() }), z14.object({ stackId: id, status: frameEnd })])
  ),
  "turn:delegate": spec(
    "Runs a child frame on any host that serves its assistant; answers when it has ended.",
    z14.object({ ...frame, seq, childStackId: agentMadeId.optional(), assistantId, input: turnInput }),
    z14.object({ stackId: id, status: stepStatus, output: json.nullable(), error: turnError.nullable() })
  ),
  "turn:input": spec("Gives what turn:assigned carried.", z14.object({ requestId: id, stackId: id.optional() }), assignment),
  "message:list": spec(commands["message:list"].summary, commands["message:list"].args, commands["message:list"].result),
  "chat:get": spec(commands["chat:get"].summary, commands["chat:get"].args, commands["chat:get"].result)
};

// protocol/connection.ts
import { z as z15 } from "zod";
var PROTOCOL_VERSION = 1;
var ROLES = ["user", "agent", "admin"];
var userRole = z15.enum(ROLES);
var user = z15.object({
  userId: principalId,
  teamId: principalId.nullable(),
  tenantId: principalId.nullable(),
  roles: z15.array(userRole)
});
var hello = z15.object({
  protocol: z15.literal(PROTOCOL_VERSION),
  serverVersion: z15.string(),
  connectionId: z15.string(),
  user,
  limits,
  assistants: z15.array(z15.object({ assistantId, name: z15.string(), available: z15.boolean() }))
});
var GOAWAY_CODES = ["shutdown", "token_expired", "slow_consumer", "revoked", "replaced", "too_many_connections"];
var goaway = z15.object({ code: z15.enum(GOAWAY_CODES), reconnect: z15.boolean(), retryAfterMs: z15.int().min(0).optional() });

// protocol/path.ts
var MAX_PATH_SEGMENTS = 64;
var PathFault = class extends Error {
};
function normalPath(path3) {
  return path3.startsWith("props.") ? path3.slice("props.".length) : path3;
}
function parsePath(path3) {
  if (path3 === "") return [];
  const segments = normalPath(path3).split(".");
  if (segments.length > MAX_PATH_SEGMENTS) throw new PathFault(`a path has at most ${MAX_PATH_SEGMENTS} segments`);
  for (const segment of segments) {
    if (segment === "") throw new PathFault("a path has no empty segments");
    if (isForbiddenKey(segment)) throw new PathFault(`the path segment ${segment} is not allowed`);
  }
  return segments;
}

// protocol/op.ts
import { z as z16 } from "zod";
var path = z16.string().max(4096).transform((text2, context) => {
  try {
    parsePath(text2);
    return normalPath(text2);
  } catch (error) {
    if (!(error instanceof PathFault)) throw error;
    context.addIssue({ code: "custom", message: error.message });
    return z16.NEVER;
  }
});
var somewhere = path.refine((text2) => text2 !== "", { error: "expected a path" });
var spaceKey = z16.string().min(1).max(200);
var signalName = z16.string().min(1).max(200);
var op = z16.discriminatedUnion("op", [
  z16.object({
    op: z16.literal("send"),
    messageId: agentMadeId.optional(),
    type: messageType,
    props: jsonObject,
    role: role.optional(),
    blockId: id.nullable().optional(),
    threadId: id.nullable().optional(),
    stepId: agentMadeId.nullable().optional(),
    metadata: metadata.optional()
  }),
  z16.object({ op: z16.literal("append"), messageId: id, text: z16.string(), path: path.optional() }),
  z16.object({ op: z16.literal("replace"), messageId: id, type: messageType.optional(), props: jsonObject }),
  z16.object({ op: z16.literal("merge"), messageId: id, path: path.optional(), value: json }),
  z16.object({ op: z16.literal("set"), messageId: id, path: somewhere, value: json }),
  z16.object({ op: z16.literal("end"), messageId: id }),
  z16.object({
    op: z16.literal("step.start"),
    stepId: agentMadeId,
    type: stepType,
    input: json.optional(),
    stackId: agentMadeId.optional(),
    stackParentId: agentMadeId.nullable().optional(),
    assistantId: assistantId.optional(),
    metadata: metadata.optional()
  }),
  z16.object({
    op: z16.literal("step.end"),
    stepId: agentMadeId,
    status: z16.enum(["completed", "failed", "interrupted"]),
    output: json.optional(),
    error: json.optional(),
    metadata: metadata.optional()
  }),
  z16.object({ op: z16.literal("space.set"), key: spaceKey, value: json }),
  z16.object({ op: z16.literal("space.delete"), key: spaceKey }),
  z16.object({ op: z16.literal("signal"), name: signalName, data: json })
]);

// server/clock.ts
var isoNow = (clock) => new Date(clock.now()).toISOString();
var pause = (clock, ms) => new Promise((resolve) => void clock.after(ms, resolve));
var nextTurn = (clock) => new Promise((resolve) => clock.soon(resolve));
var systemClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (callback) => void setImmediate(callback)
};

// server/adapters/prisma/sqlite-dialect.ts
var timeIn = (iso2) => iso2.replace("Z", "+00:00");
function rowsOfParameter(columns) {
  const list = columns.map(([name, kind], index) => {
    const value = kind === "json" ? `nullif(value -> ${index}, 'null')` : `value ->> ${index}`;
    return `${value} AS ${name}`;
  });
  return `SELECT ${list.join(", ")} FROM json_each(?)`;
}
var textsOfParameter = "SELECT value FROM json_each(?)";
var contains = (column) => `instr(${column}, ?) > 0`;
var pragmas = (synchronous) => [
  "journal_mode = WAL",
  `synchronous = ${synchronous}`,
  "foreign_keys = ON",
  // Kibibytes, as a negative number.
  "cache_size = -65536",
  // In pages of 4 KiB. Dirty pages beyond it go to the log while a transaction runs, so that its commit has little left.
  "cache_spill = 500",
  "wal_autocheckpoint = 10000",
  "temp_store = MEMORY"
];

// server/adapters/prisma/migrate.ts
var OWN_MIGRATIONS = fileURLToPath(new URL("../../../prisma/sqlite/migrations", "file:///work/main/server/adapters/prisma/migrate.ts"));
var LOCK_WAIT_MS = 3e4;
var LOCK_POLL_MS = 50;
var MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
)`;
async function migrate(options) {
  const { url, clock, lockWaitMs = LOCK_WAIT_MS } = options;
  const migrations = await readMigrations(options.directory ?? OWN_MIGRATIONS);
  const deadline = clock.monotonic() + lockWaitMs;
  const patiently = async (work) => {
    for (; ; ) {
      try {
        return work();
      } catch (error) {
        if (error instanceof ChatError) throw error;
        if (!isBusy(error) || clock.monotonic() >= deadline) throw new ChatError("storage_unavailable", void 0, { cause: error });
        await pause(clock, LOCK_POLL_MS);
      }
    }
  };
  const file = await patiently(() => new Database(url.replace(/^file:/, ""), { timeout: 0 }));
  try {
    await patiently(() => file.pragma("journal_mode = WAL"));
    file.pragma("foreign_keys = OFF");
    const applied = [];
    for (; ; ) {
      const name = await patiently(() => applyNext(file, migrations, options));
      if (name === null) return applied;
      applied.push(name);
    }
  } finally {
    file.close();
  }
}
async function readMigrations(directory) {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql2 = await readFile(join(directory, name, "migration.sql"), "utf8");
      return { name, sql: sql2, checksum: createHash("sha256").update(sql2).digest("hex") };
    })
  );
}
function applyNext(file, migrations, { clock, ids }) {
  const apply = file.transaction(() => {
    file.exec(MIGRATIONS_TABLE);
    const next = nextOf(file, migrations);
    if (!next) return null;
    const startedAt = timeIn(isoNow(clock));
    file.exec(next.sql);
    const broken = file.pragma("foreign_key_check");
    if (broken.length > 0) throw new ChatError("internal", `The migration ${next.name} would break references.`);
    file.prepare(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES (?, ?, ?, ?, ?, 1)"
    ).run(ids.id(), next.checksum, next.name, startedAt, timeIn(isoNow(clock)));
    return next.name;
  });
  return apply.immediate();
}
function nextOf(file, migrations) {
  const rows = file.prepare(
    "SELECT migration_name AS name, checksum, finished_at AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL"
  ).all();
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, finished } of rows) {
    const migration = known.get(name);
    if (finished === null) throw new ChatError("internal", `The migration ${name} failed earlier and has to be resolved.`);
    if (!migration) throw new ChatError("internal", `The database is newer than this program: it has ${name}.`);
    if (migration.checksum !== checksum) throw new ChatError("internal", `The migration ${name} was changed after it was applied.`);
  }
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.find(({ name }) => !applied.has(name));
}
function isBusy(error) {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

// server/adapters/prisma/generated/sqlite/client.ts
import * as path2 from "node:path";
import { fileURLToPath as fileURLToPath2 } from "node:url";
import "@prisma/client/runtime/client";

// server/adapters/prisma/generated/sqlite/internal/class.ts
import * as runtime from "@prisma/client/runtime/client";
var config = {
  "previewFeatures": [],
  "clientVersion": "7.10.0",
  "engineVersion": "0edf323efd1d98336f3f0a68684b56f689b900d3",
  "activeProvider": "sqlite",
  "inlineSchema": `// SQLite: the database of a server that was given none. The models are shared: prisma/models.

datasource db {
  provider = "sqlite"
}

generator client {
  provider               = "prisma-client"
  output                 = "../../server/adapters/prisma/generated/sqlite"
  runtime                = "nodejs"
  moduleFormat           = "esm"
  importFileExtension    = "js"
  generatedFileExtension = "ts"
}

enum ChatStatus {
  active
  archived
}

enum ChatShare {
  private
  team
}

/// The durable conversation. Times have no default in the database: one writer, one format (docs/decisions/0010).
model AgentChat {
  id            Int        @id @default(autoincrement())
  chatId        String     @unique @map("chat_id")
  title         String?
  /// The title folded for search (docs/decisions/0013). Never shown.
  titleSearch   String?    @map("title_search")
  assistantId   String     @map("assistant_id")
  mode          String
  status        ChatStatus
  preset        Boolean
  public        Boolean
  share         ChatShare
  sort          Int
  lastMessageAt DateTime?  @map("last_message_at")
  /// last_message_at, or created_at until there is one: what lists are ordered by.
  activityAt    DateTime   @map("activity_at")
  /// The highest sequence ever given in this chat, also to messages that were deleted or never stored. It only grows.
  lastSequence  Int        @map("last_sequence")
  metadata      Json?
  createdBy     String     @map("created_by")
  updatedBy     String?    @map("updated_by")
  teamId        String?    @map("team_id")
  tenantId      String?    @map("tenant_id")
  createdAt     DateTime   @map("created_at")
  updatedAt     DateTime   @map("updated_at")
  deletedAt     DateTime?  @map("deleted_at")

  @@index([assistantId], map: "idx_chat_assistant")
  @@index([status], map: "idx_chat_status")
  @@index([share], map: "idx_chat_share")
  @@index([lastMessageAt], map: "idx_chat_last_msg")
  @@index([createdAt], map: "idx_chat_created")
  // One for each scope of chat:list: mine, the team's, public, everything in the tenant.
  @@index([tenantId, createdBy, activityAt, chatId], map: "idx_chat_mine")
  @@index([tenantId, teamId, share, activityAt, chatId], map: "idx_chat_team")
  @@index([tenantId, public, activityAt, chatId], map: "idx_chat_public")
  @@index([tenantId, activityAt, chatId], map: "idx_chat_tenant")
  @@map("agent_chat")
}

enum MessageRole {
  user
  assistant
}

enum MessageState {
  open
  closed
}

/// One entry that a person sees. A deleted one keeps its row, and with it its id and its sequence.
model AgentMessage {
  id          Int          @id @default(autoincrement())
  messageId   String       @unique @map("message_id")
  chatId      String       @map("chat_id")
  requestId   String?      @map("request_id")
  role        MessageRole
  type        String
  props       Json
  blockId     String?      @map("block_id")
  threadId    String?      @map("thread_id")
  stepId      String?      @map("step_id")
  assistantId String?      @map("assistant_id")
  sequence    Int
  state       MessageState
  metadata    Json?
  createdBy   String?      @map("created_by")
  updatedBy   String?      @map("updated_by")
  teamId      String?      @map("team_id")
  tenantId    String?      @map("tenant_id")
  createdAt   DateTime     @map("created_at")
  updatedAt   DateTime     @map("updated_at")
  deletedAt   DateTime?    @map("deleted_at")

  @@unique([chatId, sequence], map: "idx_msg_chat_seq")
  @@index([requestId, sequence], map: "idx_msg_request")
  @@index([blockId, sequence], map: "idx_msg_block")
  @@index([threadId, sequence], map: "idx_msg_thread")
  @@index([assistantId], map: "idx_msg_assistant")
  @@map("agent_message")
}

enum StepType {
  input
  hook_create
  llm
  tool
  hook_next
  delegate
}

enum StepStatus {
  pending
  running
  completed
  failed
  interrupted
}

/// One recorded unit of execution: what a resume starts from.
model AgentStep {
  id            Int        @id @default(autoincrement())
  stepId        String     @unique @map("step_id")
  chatId        String     @map("chat_id")
  requestId     String     @map("request_id")
  assistantId   String     @map("assistant_id")
  stackId       String     @map("stack_id")
  stackParentId String?    @map("stack_parent_id")
  stackDepth    Int        @map("stack_depth")
  type          StepType
  status        StepStatus
  input         Json?
  output        Json?
  spaceSnapshot Json?      @map("space_snapshot")
  error         Json?
  sequence      Int
  /// The order in which the turn's steps were last begun, over all attempts (TRN-9).
  beginOrder    Int        @map("begin_order")
  metadata      Json?
  createdBy     String?    @map("created_by")
  updatedBy     String?    @map("updated_by")
  teamId        String?    @map("team_id")
  tenantId      String?    @map("tenant_id")
  createdAt     DateTime   @map("created_at")
  updatedAt     DateTime   @map("updated_at")
  deletedAt     DateTime?  @map("deleted_at")

  @@unique([requestId, sequence], map: "idx_step_request")
  @@index([chatId, deletedAt, status], map: "idx_step_chat")
  @@index([status], map: "idx_step_status")
  @@index([stackId], map: "idx_step_stack")
  @@index([stackParentId], map: "idx_step_parent")
  @@index([assistantId], map: "idx_step_assistant")
  @@map("agent_step")
}

enum TurnStatus {
  queued
  running
  completed
  interrupted
  failed
}

/// One request in a chat, over all its attempts. \`id\` is the order in which the turns of a chat were begun.
model AgentTurn {
  id          Int        @id @default(autoincrement())
  requestId   String     @unique @map("request_id")
  chatId      String     @map("chat_id")
  assistantId String     @map("assistant_id")
  status      TurnStatus
  background  Boolean
  attempt     Int
  stopReason  String?    @map("stop_reason")
  error       Json?
  /// The hash of the start's body (TRN-1).
  fingerprint String
  usage       Json?
  metadata    Json?
  rootStackId String     @map("root_stack_id")
  regenerates String?
  openedBy    String?    @map("opened_by")
  createdBy   String     @map("created_by")
  updatedBy   String?    @map("updated_by")
  teamId      String?    @map("team_id")
  tenantId    String?    @map("tenant_id")
  createdAt   DateTime   @map("created_at")
  startedAt   DateTime?  @map("started_at")
  endedAt     DateTime?  @map("ended_at")
  updatedAt   DateTime   @map("updated_at")
  deletedAt   DateTime?  @map("deleted_at")

  @@index([chatId, deletedAt, id], map: "idx_turn_chat")
  @@index([status], map: "idx_turn_status")
  @@map("agent_turn")
}
`,
  "runtimeDataModel": {
    "models": {},
    "enums": {},
    "types": {}
  },
  "parameterizationSchema": {
    "strings": [],
    "graph": ""
  }
};
config.runtimeDataModel = JSON.parse('{"models":{"AgentChat":{"fields":[{"name":"id","kind":"scalar","type":"Int"},{"name":"chatId","kind":"scalar","type":"String","dbName":"chat_id"},{"name":"title","kind":"scalar","type":"String"},{"name":"titleSearch","kind":"scalar","type":"String","dbName":"title_search"},{"name":"assistantId","kind":"scalar","type":"String","dbName":"assistant_id"},{"name":"mode","kind":"scalar","type":"String"},{"name":"status","kind":"enum","type":"ChatStatus"},{"name":"preset","kind":"scalar","type":"Boolean"},{"name":"public","kind":"scalar","type":"Boolean"},{"name":"share","kind":"enum","type":"ChatShare"},{"name":"sort","kind":"scalar","type":"Int"},{"name":"lastMessageAt","kind":"scalar","type":"DateTime","dbName":"last_message_at"},{"name":"activityAt","kind":"scalar","type":"DateTime","dbName":"activity_at"},{"name":"lastSequence","kind":"scalar","type":"Int","dbName":"last_sequence"},{"name":"metadata","kind":"scalar","type":"Json"},{"name":"createdBy","kind":"scalar","type":"String","dbName":"created_by"},{"name":"updatedBy","kind":"scalar","type":"String","dbName":"updated_by"},{"name":"teamId","kind":"scalar","type":"String","dbName":"team_id"},{"name":"tenantId","kind":"scalar","type":"String","dbName":"tenant_id"},{"name":"createdAt","kind":"scalar","type":"DateTime","dbName":"created_at"},{"name":"updatedAt","kind":"scalar","type":"DateTime","dbName":"updated_at"},{"name":"deletedAt","kind":"scalar","type":"DateTime","dbName":"deleted_at"}],"dbName":"agent_chat","schema":null},"AgentMessage":{"fields":[{"name":"id","kind":"scalar","type":"Int"},{"name":"messageId","kind":"scalar","type":"String","dbName":"message_id"},{"name":"chatId","kind":"scalar","type":"String","dbName":"chat_id"},{"name":"requestId","kind":"scalar","type":"String","dbName":"request_id"},{"name":"role","kind":"enum","type":"MessageRole"},{"name":"type","kind":"scalar","type":"String"},{"name":"props","kind":"scalar","type":"Json"},{"name":"blockId","kind":"scalar","type":"String","dbName":"block_id"},{"name":"threadId","kind":"scalar","type":"String","dbName":"thread_id"},{"name":"stepId","kind":"scalar","type":"String","dbName":"step_id"},{"name":"assistantId","kind":"scalar","type":"String","dbName":"assistant_id"},{"name":"sequence","kind":"scalar","type":"Int"},{"name":"state","kind":"enum","type":"MessageState"},{"name":"metadata","kind":"scalar","type":"Json"},{"name":"createdBy","kind":"scalar","type":"String","dbName":"created_by"},{"name":"updatedBy","kind":"scalar","type":"String","dbName":"updated_by"},{"name":"teamId","kind":"scalar","type":"String","dbName":"team_id"},{"name":"tenantId","kind":"scalar","type":"String","dbName":"tenant_id"},{"name":"createdAt","kind":"scalar","type":"DateTime","dbName":"created_at"},{"name":"updatedAt","kind":"scalar","type":"DateTime","dbName":"updated_at"},{"name":"deletedAt","kind":"scalar","type":"DateTime","dbName":"deleted_at"}],"dbName":"agent_message","schema":null},"AgentStep":{"fields":[{"name":"id","kind":"scalar","type":"Int"},{"name":"stepId","kind":"scalar","type":"String","dbName":"step_id"},{"name":"chatId","kind":"scalar","type":"String","dbName":"chat_id"},{"name":"requestId","kind":"scalar","type":"String","dbName":"request_id"},{"name":"assistantId","kind":"scalar","type":"String","dbName":"assistant_id"},{"name":"stackId","kind":"scalar","type":"String","dbName":"stack_id"},{"name":"stackParentId","kind":"scalar","type":"String","dbName":"stack_parent_id"},{"name":"stackDepth","kind":"scalar","type":"Int","dbName":"stack_depth"},{"name":"type","kind":"enum","type":"StepType"},{"name":"status","kind":"enum","type":"StepStatus"},{"name":"input","kind":"scalar","type":"Json"},{"name":"output","kind":"scalar","type":"Json"},{"name":"spaceSnapshot","kind":"scalar","type":"Json","dbName":"space_snapshot"},{"name":"error","kind":"scalar","type":"Json"},{"name":"sequence","kind":"scalar","type":"Int"},{"name":"beginOrder","kind":"scalar","type":"Int","dbName":"begin_order"},{"name":"metadata","kind":"scalar","type":"Json"},{"name":"createdBy","kind":"scalar","type":"String","dbName":"created_by"},{"name":"updatedBy","kind":"scalar","type":"String","dbName":"updated_by"},{"name":"teamId","kind":"scalar","type":"String","dbName":"team_id"},{"name":"tenantId","kind":"scalar","type":"String","dbName":"tenant_id"},{"name":"createdAt","kind":"scalar","type":"DateTime","dbName":"created_at"},{"name":"updatedAt","kind":"scalar","type":"DateTime","dbName":"updated_at"},{"name":"deletedAt","kind":"scalar","type":"DateTime","dbName":"deleted_at"}],"dbName":"agent_step","schema":null},"AgentTurn":{"fields":[{"name":"id","kind":"scalar","type":"Int"},{"name":"requestId","kind":"scalar","type":"String","dbName":"request_id"},{"name":"chatId","kind":"scalar","type":"String","dbName":"chat_id"},{"name":"assistantId","kind":"scalar","type":"String","dbName":"assistant_id"},{"name":"status","kind":"enum","type":"TurnStatus"},{"name":"background","kind":"scalar","type":"Boolean"},{"name":"attempt","kind":"scalar","type":"Int"},{"name":"stopReason","kind":"scalar","type":"String","dbName":"stop_reason"},{"name":"error","kind":"scalar","type":"Json"},{"name":"fingerprint","kind":"scalar","type":"String"},{"name":"usage","kind":"scalar","type":"Json"},{"name":"metadata","kind":"scalar","type":"Json"},{"name":"rootStackId","kind":"scalar","type":"String","dbName":"root_stack_id"},{"name":"regenerates","kind":"scalar","type":"String"},{"name":"openedBy","kind":"scalar","type":"String","dbName":"opened_by"},{"name":"createdBy","kind":"scalar","type":"String","dbName":"created_by"},{"name":"updatedBy","kind":"scalar","type":"String","dbName":"updated_by"},{"name":"teamId","kind":"scalar","type":"String","dbName":"team_id"},{"name":"tenantId","kind":"scalar","type":"String","dbName":"tenant_id"},{"name":"createdAt","kind":"scalar","type":"DateTime","dbName":"created_at"},{"name":"startedAt","kind":"scalar","type":"DateTime","dbName":"started_at"},{"name":"endedAt","kind":"scalar","type":"DateTime","dbName":"ended_at"},{"name":"updatedAt","kind":"scalar","type":"DateTime","dbName":"updated_at"},{"name":"deletedAt","kind":"scalar","type":"DateTime","dbName":"deleted_at"}],"dbName":"agent_turn","schema":null}},"enums":{},"types":{}}');
config.parameterizationSchema = {
  strings: JSON.parse('["where","AgentChat.findUnique","AgentChat.findUniqueOrThrow","orderBy","cursor","AgentChat.findFirst","AgentChat.findFirstOrThrow","AgentChat.findMany","data","AgentChat.createOne","AgentChat.createMany","AgentChat.createManyAndReturn","AgentChat.updateOne","AgentChat.updateMany","AgentChat.updateManyAndReturn","create","update","AgentChat.upsertOne","AgentChat.deleteOne","AgentChat.deleteMany","having","_count","_avg","_sum","_min","_max","AgentChat.groupBy","AgentChat.aggregate","AgentMessage.findUnique","AgentMessage.findUniqueOrThrow","AgentMessage.findFirst","AgentMessage.findFirstOrThrow","AgentMessage.findMany","AgentMessage.createOne","AgentMessage.createMany","AgentMessage.createManyAndReturn","AgentMessage.updateOne","AgentMessage.updateMany","AgentMessage.updateManyAndReturn","AgentMessage.upsertOne","AgentMessage.deleteOne","AgentMessage.deleteMany","AgentMessage.groupBy","AgentMessage.aggregate","AgentStep.findUnique","AgentStep.findUniqueOrThrow","AgentStep.findFirst","AgentStep.findFirstOrThrow","AgentStep.findMany","AgentStep.createOne","AgentStep.createMany","AgentStep.createManyAndReturn","AgentStep.updateOne","AgentStep.updateMany","AgentStep.updateManyAndReturn","AgentStep.upsertOne","AgentStep.deleteOne","AgentStep.deleteMany","AgentStep.groupBy","AgentStep.aggregate","AgentTurn.findUnique","AgentTurn.findUniqueOrThrow","AgentTurn.findFirst","AgentTurn.findFirstOrThrow","AgentTurn.findMany","AgentTurn.createOne","AgentTurn.createMany","AgentTurn.createManyAndReturn","AgentTurn.updateOne","AgentTurn.updateMany","AgentTurn.updateManyAndReturn","AgentTurn.upsertOne","AgentTurn.deleteOne","AgentTurn.deleteMany","AgentTurn.groupBy","AgentTurn.aggregate","AND","OR","NOT","id","requestId","chatId","assistantId","TurnStatus","status","background","attempt","stopReason","error","fingerprint","usage","metadata","rootStackId","regenerates","openedBy","createdBy","updatedBy","teamId","tenantId","createdAt","startedAt","endedAt","updatedAt","deletedAt","equals","in","notIn","lt","lte","gt","gte","not","string_contains","string_starts_with","string_ends_with","array_starts_with","array_ends_with","contains","startsWith","endsWith","stepId","stackId","stackParentId","stackDepth","StepType","type","StepStatus","input","output","spaceSnapshot","sequence","beginOrder","requestId_sequence","messageId","MessageRole","role","props","blockId","threadId","MessageState","state","chatId_sequence","title","titleSearch","mode","ChatStatus","preset","public","ChatShare","share","sort","lastMessageAt","activityAt","lastSequence","set","increment","decrement","multiply","divide"]'),
  graph: "zAEpQBlMAACoAQAwTQAABAAQTgAAqAEAME8CAAAAAVEBAAAAAVIBAIEBACFUAACpAZIBIlsAAIUBACBfAQCBAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAhjgEBAIQBACGPAQEAhAEAIZABAQCBAQAhkgEgAIMBACGTASAAgwEAIZUBAACqAZUBIpYBAgCAAQAhlwFAAIcBACGYAUAAhgEAIZkBAgCAAQAhAQAAAAEAIAEAAAABACAZTAAAqAEAME0AAAQAEE4AAKgBADBPAgCAAQAhUQEAgQEAIVIBAIEBACFUAACpAZIBIlsAAIUBACBfAQCBAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAhjgEBAIQBACGPAQEAhAEAIZABAQCBAQAhkgEgAIMBACGTASAAgwEAIZUBAACqAZUBIpYBAgCAAQAhlwFAAIcBACGYAUAAhgEAIZkBAgCAAQAhCFsAAKsBACBgAACrAQAgYQAAqwEAIGIAAKsBACBnAACrAQAgjgEAAKsBACCPAQAAqwEAIJcBAACrAQAgAwAAAAQAIAMAAAUAMAQAAAEAIAMAAAAEACADAAAFADAEAAABACADAAAABAAgAwAABQAwBAAAAQAgFk8CAAAAAVEBAAAAAVIBAAAAAVQAAACSAQJbgAAAAAFfAQAAAAFgAQAAAAFhAQAAAAFiAQAAAAFjQAAAAAFmQAAAAAFnQAAAAAGOAQEAAAABjwEBAAAAAZABAQAAAAGSASAAAAABkwEgAAAAAZUBAAAAlQEClgECAAAAAZcBQAAAAAGYAUAAAAABmQECAAAAAQEIAAAJACAWTwIAAAABUQEAAAABUgEAAAABVAAAAJIBAluAAAAAAV8BAAAAAWABAAAAAWEBAAAAAWIBAAAAAWNAAAAAAWZAAAAAAWdAAAAAAY4BAQAAAAGPAQEAAAABkAEBAAAAAZIBIAAAAAGTASAAAAABlQEAAACVAQKWAQIAAAABlwFAAAAAAZgBQAAAAAGZAQIAAAABAQgAAAsAMAEIAAALADAWTwIAtAEAIVEBALEBACFSAQCxAQAhVAAAywGSASJbgAAAAAFfAQCxAQAhYAEAtQEAIWEBALUBACFiAQC1AQAhY0AAtgEAIWZAALYBACFnQAC3AQAhjgEBALUBACGPAQEAtQEAIZABAQCxAQAhkgEgALMBACGTASAAswEAIZUBAADMAZUBIpYBAgC0AQAhlwFAALcBACGYAUAAtgEAIZkBAgC0AQAhAgAAAAEAIAgAAA4AIBZPAgC0AQAhUQEAsQEAIVIBALEBACFUAADLAZIBIluAAAAAAV8BALEBACFgAQC1AQAhYQEAtQEAIWIBALUBACFjQAC2AQAhZkAAtgEAIWdAALcBACGOAQEAtQEAIY8BAQC1AQAhkAEBALEBACGSASAAswEAIZMBIACzAQAhlQEAAMwBlQEilgECALQBACGXAUAAtwEAIZgBQAC2AQAhmQECALQBACECAAAABAAgCAAAEAAgAgAAAAQAIAgAABAAIAMAAAABACAPAAAJACAQAAAOACABAAAAAQAgAQAAAAQAIA0VAADGAQAgFgAAxwEAIBcAAMoBACAYAADJAQAgGQAAyAEAIFsAAKsBACBgAACrAQAgYQAAqwEAIGIAAKsBACBnAACrAQAgjgEAAKsBACCPAQAAqwEAIJcBAACrAQAgGUwAAKEBADBNAAAXABBOAAChAQAwTwIAZgAhUQEAZwAhUgEAZwAhVAAAogGSASJbAABrACBfAQBnACFgAQBqACFhAQBqACFiAQBqACFjQABsACFmQABsACFnQABtACGOAQEAagAhjwEBAGoAIZABAQBnACGSASAAaQAhkwEgAGkAIZUBAACjAZUBIpYBAgBmACGXAUAAbQAhmAFAAGwAIZkBAgBmACEDAAAABAAgAwAAFgAwFAAAFwAgAwAAAAQAIAMAAAUAMAQAAAEAIBlMAACcAQAwTQAAHQAQTgAAnAEAME8CAAAAAVABAIQBACFRAQCBAQAhUgEAhAEAIVsAAIUBACBfAQCEAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAheAEAhAEAIX0BAIEBACGCAQIAgAEAIYUBAQAAAAGHAQAAnQGHASKIAQAAngEAIIkBAQCEAQAhigEBAIQBACGMAQAAnwGMASKNAQAAoAEAIAEAAAAaACABAAAAGgAgGEwAAJwBADBNAAAdABBOAACcAQAwTwIAgAEAIVABAIQBACFRAQCBAQAhUgEAhAEAIVsAAIUBACBfAQCEAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAheAEAhAEAIX0BAIEBACGCAQIAgAEAIYUBAQCBAQAhhwEAAJ0BhwEiiAEAAJ4BACCJAQEAhAEAIYoBAQCEAQAhjAEAAJ8BjAEiC1AAAKsBACBSAACrAQAgWwAAqwEAIF8AAKsBACBgAACrAQAgYQAAqwEAIGIAAKsBACBnAACrAQAgeAAAqwEAIIkBAACrAQAgigEAAKsBACADAAAAHQAgAwAAHgAwBAAAGgAgAwAAAB0AIAMAAB4AMAQAABoAIAMAAAAdACADAAAeADAEAAAaACAVTwIAAAABUAEAAAABUQEAAAABUgEAAAABW4AAAAABXwEAAAABYAEAAAABYQEAAAABYgEAAAABY0AAAAABZkAAAAABZ0AAAAABeAEAAAABfQEAAAABggECAAAAAYUBAQAAAAGHAQAAAIcBAogBgAAAAAGJAQEAAAABigEBAAAAAYwBAAAAjAECAQgAACIAIBVPAgAAAAFQAQAAAAFRAQAAAAFSAQAAAAFbgAAAAAFfAQAAAAFgAQAAAAFhAQAAAAFiAQAAAAFjQAAAAAFmQAAAAAFnQAAAAAF4AQAAAAF9AQAAAAGCAQIAAAABhQEBAAAAAYcBAAAAhwECiAGAAAAAAYkBAQAAAAGKAQEAAAABjAEAAACMAQIBCAAAJAAwAQgAACQAMBVPAgC0AQAhUAEAtQEAIVEBALEBACFSAQC1AQAhW4AAAAABXwEAtQEAIWABALUBACFhAQC1AQAhYgEAtQEAIWNAALYBACFmQAC2AQAhZ0AAtwEAIXgBALUBACF9AQCxAQAhggECALQBACGFAQEAsQEAIYcBAADEAYcBIogBgAAAAAGJAQEAtQEAIYoBAQC1AQAhjAEAAMUBjAEiAgAAABoAIAgAACcAIBVPAgC0AQAhUAEAtQEAIVEBALEBACFSAQC1AQAhW4AAAAABXwEAtQEAIWABALUBACFhAQC1AQAhYgEAtQEAIWNAALYBACFmQAC2AQAhZ0AAtwEAIXgBALUBACF9AQCxAQAhggECALQBACGFAQEAsQEAIYcBAADEAYcBIogBgAAAAAGJAQEAtQEAIYoBAQC1AQAhjAEAAMUBjAEiAgAAAB0AIAgAACkAIAIAAAAdACAIAAApACADAAAAGgAgDwAAIgAgEAAAJwAgAQAAABoAIAEAAAAdACAQFQAAvwEAIBYAAMABACAXAADDAQAgGAAAwgEAIBkAAMEBACBQAACrAQAgUgAAqwEAIFsAAKsBACBfAACrAQAgYAAAqwEAIGEAAKsBACBiAACrAQAgZwAAqwEAIHgAAKsBACCJAQAAqwEAIIoBAACrAQAgGEwAAJMBADBNAAAwABBOAACTAQAwTwIAZgAhUAEAagAhUQEAZwAhUgEAagAhWwAAawAgXwEAagAhYAEAagAhYQEAagAhYgEAagAhY0AAbAAhZkAAbAAhZ0AAbQAheAEAagAhfQEAZwAhggECAGYAIYUBAQBnACGHAQAAlAGHASKIAQAAlQEAIIkBAQBqACGKAQEAagAhjAEAAJYBjAEiAwAAAB0AIAMAAC8AMBQAADAAIAMAAAAdACADAAAeADAEAAAaACAcTAAAjwEAME0AADYAEE4AAI8BADBPAgAAAAFQAQCBAQAhUQEAgQEAIVIBAIEBACFUAACRAX8iWAAAhQEAIFsAAIUBACBfAQCEAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAheAEAAAABeQEAgQEAIXoBAIQBACF7AgCAAQAhfQAAkAF9In8AAIUBACCAAQAAhQEAIIEBAACFAQAgggECAIABACGDAQIAgAEAIYQBAACSAQAgAQAAADMAIAEAAAAzACAbTAAAjwEAME0AADYAEE4AAI8BADBPAgCAAQAhUAEAgQEAIVEBAIEBACFSAQCBAQAhVAAAkQF_IlgAAIUBACBbAACFAQAgXwEAhAEAIWABAIQBACFhAQCEAQAhYgEAhAEAIWNAAIYBACFmQACGAQAhZ0AAhwEAIXgBAIEBACF5AQCBAQAhegEAhAEAIXsCAIABACF9AACQAX0ifwAAhQEAIIABAACFAQAggQEAAIUBACCCAQIAgAEAIYMBAgCAAQAhC1gAAKsBACBbAACrAQAgXwAAqwEAIGAAAKsBACBhAACrAQAgYgAAqwEAIGcAAKsBACB6AACrAQAgfwAAqwEAIIABAACrAQAggQEAAKsBACADAAAANgAgAwAANwAwBAAAMwAgAwAAADYAIAMAADcAMAQAADMAIAMAAAA2ACADAAA3ADAEAAAzACAYTwIAAAABUAEAAAABUQEAAAABUgEAAAABVAAAAH8CWIAAAAABW4AAAAABXwEAAAABYAEAAAABYQEAAAABYgEAAAABY0AAAAABZkAAAAABZ0AAAAABeAEAAAABeQEAAAABegEAAAABewIAAAABfQAAAH0Cf4AAAAABgAGAAAAAAYEBgAAAAAGCAQIAAAABgwECAAAAAQEIAAA7ACAYTwIAAAABUAEAAAABUQEAAAABUgEAAAABVAAAAH8CWIAAAAABW4AAAAABXwEAAAABYAEAAAABYQEAAAABYgEAAAABY0AAAAABZkAAAAABZ0AAAAABeAEAAAABeQEAAAABegEAAAABewIAAAABfQAAAH0Cf4AAAAABgAGAAAAAAYEBgAAAAAGCAQIAAAABgwECAAAAAQEIAAA9ADABCAAAPQAwGE8CALQBACFQAQCxAQAhUQEAsQEAIVIBALEBACFUAAC-AX8iWIAAAAABW4AAAAABXwEAtQEAIWABALUBACFhAQC1AQAhYgEAtQEAIWNAALYBACFmQAC2AQAhZ0AAtwEAIXgBALEBACF5AQCxAQAhegEAtQEAIXsCALQBACF9AAC9AX0if4AAAAABgAGAAAAAAYEBgAAAAAGCAQIAtAEAIYMBAgC0AQAhAgAAADMAIAgAAEAAIBhPAgC0AQAhUAEAsQEAIVEBALEBACFSAQCxAQAhVAAAvgF_IliAAAAAAVuAAAAAAV8BALUBACFgAQC1AQAhYQEAtQEAIWIBALUBACFjQAC2AQAhZkAAtgEAIWdAALcBACF4AQCxAQAheQEAsQEAIXoBALUBACF7AgC0AQAhfQAAvQF9In-AAAAAAYABgAAAAAGBAYAAAAABggECALQBACGDAQIAtAEAIQIAAAA2ACAIAABCACACAAAANgAgCAAAQgAgAwAAADMAIA8AADsAIBAAAEAAIAEAAAAzACABAAAANgAgEBUAALgBACAWAAC5AQAgFwAAvAEAIBgAALsBACAZAAC6AQAgWAAAqwEAIFsAAKsBACBfAACrAQAgYAAAqwEAIGEAAKsBACBiAACrAQAgZwAAqwEAIHoAAKsBACB_AACrAQAggAEAAKsBACCBAQAAqwEAIBtMAACIAQAwTQAASQAQTgAAiAEAME8CAGYAIVABAGcAIVEBAGcAIVIBAGcAIVQAAIoBfyJYAABrACBbAABrACBfAQBqACFgAQBqACFhAQBqACFiAQBqACFjQABsACFmQABsACFnQABtACF4AQBnACF5AQBnACF6AQBqACF7AgBmACF9AACJAX0ifwAAawAggAEAAGsAIIEBAABrACCCAQIAZgAhgwECAGYAIQMAAAA2ACADAABIADAUAABJACADAAAANgAgAwAANwAwBAAAMwAgG0wAAH8AME0AAE8AEE4AAH8AME8CAAAAAVABAAAAAVEBAIEBACFSAQCBAQAhVAAAggFUIlUgAIMBACFWAgCAAQAhVwEAhAEAIVgAAIUBACBZAQCBAQAhWgAAhQEAIFsAAIUBACBcAQCBAQAhXQEAhAEAIV4BAIQBACFfAQCBAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWRAAIcBACFlQACHAQAhZkAAhgEAIWdAAIcBACEBAAAATAAgAQAAAEwAIBtMAAB_ADBNAABPABBOAAB_ADBPAgCAAQAhUAEAgQEAIVEBAIEBACFSAQCBAQAhVAAAggFUIlUgAIMBACFWAgCAAQAhVwEAhAEAIVgAAIUBACBZAQCBAQAhWgAAhQEAIFsAAIUBACBcAQCBAQAhXQEAhAEAIV4BAIQBACFfAQCBAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWRAAIcBACFlQACHAQAhZkAAhgEAIWdAAIcBACEMVwAAqwEAIFgAAKsBACBaAACrAQAgWwAAqwEAIF0AAKsBACBeAACrAQAgYAAAqwEAIGEAAKsBACBiAACrAQAgZAAAqwEAIGUAAKsBACBnAACrAQAgAwAAAE8AIAMAAFAAMAQAAEwAIAMAAABPACADAABQADAEAABMACADAAAATwAgAwAAUAAwBAAATAAgGE8CAAAAAVABAAAAAVEBAAAAAVIBAAAAAVQAAABUAlUgAAAAAVYCAAAAAVcBAAAAAViAAAAAAVkBAAAAAVqAAAAAAVuAAAAAAVwBAAAAAV0BAAAAAV4BAAAAAV8BAAAAAWABAAAAAWEBAAAAAWIBAAAAAWNAAAAAAWRAAAAAAWVAAAAAAWZAAAAAAWdAAAAAAQEIAABUACAYTwIAAAABUAEAAAABUQEAAAABUgEAAAABVAAAAFQCVSAAAAABVgIAAAABVwEAAAABWIAAAAABWQEAAAABWoAAAAABW4AAAAABXAEAAAABXQEAAAABXgEAAAABXwEAAAABYAEAAAABYQEAAAABYgEAAAABY0AAAAABZEAAAAABZUAAAAABZkAAAAABZ0AAAAABAQgAAFYAMAEIAABWADAYTwIAtAEAIVABALEBACFRAQCxAQAhUgEAsQEAIVQAALIBVCJVIACzAQAhVgIAtAEAIVcBALUBACFYgAAAAAFZAQCxAQAhWoAAAAABW4AAAAABXAEAsQEAIV0BALUBACFeAQC1AQAhXwEAsQEAIWABALUBACFhAQC1AQAhYgEAtQEAIWNAALYBACFkQAC3AQAhZUAAtwEAIWZAALYBACFnQAC3AQAhAgAAAEwAIAgAAFkAIBhPAgC0AQAhUAEAsQEAIVEBALEBACFSAQCxAQAhVAAAsgFUIlUgALMBACFWAgC0AQAhVwEAtQEAIViAAAAAAVkBALEBACFagAAAAAFbgAAAAAFcAQCxAQAhXQEAtQEAIV4BALUBACFfAQCxAQAhYAEAtQEAIWEBALUBACFiAQC1AQAhY0AAtgEAIWRAALcBACFlQAC3AQAhZkAAtgEAIWdAALcBACECAAAATwAgCAAAWwAgAgAAAE8AIAgAAFsAIAMAAABMACAPAABUACAQAABZACABAAAATAAgAQAAAE8AIBEVAACsAQAgFgAArQEAIBcAALABACAYAACvAQAgGQAArgEAIFcAAKsBACBYAACrAQAgWgAAqwEAIFsAAKsBACBdAACrAQAgXgAAqwEAIGAAAKsBACBhAACrAQAgYgAAqwEAIGQAAKsBACBlAACrAQAgZwAAqwEAIBtMAABlADBNAABiABBOAABlADBPAgBmACFQAQBnACFRAQBnACFSAQBnACFUAABoVCJVIABpACFWAgBmACFXAQBqACFYAABrACBZAQBnACFaAABrACBbAABrACBcAQBnACFdAQBqACFeAQBqACFfAQBnACFgAQBqACFhAQBqACFiAQBqACFjQABsACFkQABtACFlQABtACFmQABsACFnQABtACEDAAAATwAgAwAAYQAwFAAAYgAgAwAAAE8AIAMAAFAAMAQAAEwAIBtMAABlADBNAABiABBOAABlADBPAgBmACFQAQBnACFRAQBnACFSAQBnACFUAABoVCJVIABpACFWAgBmACFXAQBqACFYAABrACBZAQBnACFaAABrACBbAABrACBcAQBnACFdAQBqACFeAQBqACFfAQBnACFgAQBqACFhAQBqACFiAQBqACFjQABsACFkQABtACFlQABtACFmQABsACFnQABtACENFQAAcgAgFgAAfgAgFwAAcgAgGAAAcgAgGQAAcgAgaAIAAAABaQIAAAAEagIAAAAEawIAAAABbAIAAAABbQIAAAABbgIAAAABbwIAfQAhDhUAAHIAIBgAAHwAIBkAAHwAIGgBAAAAAWkBAAAABGoBAAAABGsBAAAAAWwBAAAAAW0BAAAAAW4BAAAAAW8BAHsAIXUBAAAAAXYBAAAAAXcBAAAAAQcVAAByACAYAAB6ACAZAAB6ACBoAAAAVAJpAAAAVAhqAAAAVAhvAAB5VCIFFQAAcgAgGAAAeAAgGQAAeAAgaCAAAAABbyAAdwAhDhUAAG8AIBgAAHYAIBkAAHYAIGgBAAAAAWkBAAAABWoBAAAABWsBAAAAAWwBAAAAAW0BAAAAAW4BAAAAAW8BAHUAIXUBAAAAAXYBAAAAAXcBAAAAAQoVAABvACAYAAB0ACAZAAB0ACBogAAAAAFvgAAAAAFwAQAAAAFxAQAAAAFyAQAAAAFzgAAAAAF0gAAAAAELFQAAcgAgGAAAcwAgGQAAcwAgaEAAAAABaUAAAAAEakAAAAAEa0AAAAABbEAAAAABbUAAAAABbkAAAAABb0AAcQAhCxUAAG8AIBgAAHAAIBkAAHAAIGhAAAAAAWlAAAAABWpAAAAABWtAAAAAAWxAAAAAAW1AAAAAAW5AAAAAAW9AAG4AIQsVAABvACAYAABwACAZAABwACBoQAAAAAFpQAAAAAVqQAAAAAVrQAAAAAFsQAAAAAFtQAAAAAFuQAAAAAFvQABuACEIaAIAAAABaQIAAAAFagIAAAAFawIAAAABbAIAAAABbQIAAAABbgIAAAABbwIAbwAhCGhAAAAAAWlAAAAABWpAAAAABWtAAAAAAWxAAAAAAW1AAAAAAW5AAAAAAW9AAHAAIQsVAAByACAYAABzACAZAABzACBoQAAAAAFpQAAAAARqQAAAAARrQAAAAAFsQAAAAAFtQAAAAAFuQAAAAAFvQABxACEIaAIAAAABaQIAAAAEagIAAAAEawIAAAABbAIAAAABbQIAAAABbgIAAAABbwIAcgAhCGhAAAAAAWlAAAAABGpAAAAABGtAAAAAAWxAAAAAAW1AAAAAAW5AAAAAAW9AAHMAIQdogAAAAAFvgAAAAAFwAQAAAAFxAQAAAAFyAQAAAAFzgAAAAAF0gAAAAAEOFQAAbwAgGAAAdgAgGQAAdgAgaAEAAAABaQEAAAAFagEAAAAFawEAAAABbAEAAAABbQEAAAABbgEAAAABbwEAdQAhdQEAAAABdgEAAAABdwEAAAABC2gBAAAAAWkBAAAABWoBAAAABWsBAAAAAWwBAAAAAW0BAAAAAW4BAAAAAW8BAHYAIXUBAAAAAXYBAAAAAXcBAAAAAQUVAAByACAYAAB4ACAZAAB4ACBoIAAAAAFvIAB3ACECaCAAAAABbyAAeAAhBxUAAHIAIBgAAHoAIBkAAHoAIGgAAABUAmkAAABUCGoAAABUCG8AAHlUIgRoAAAAVAJpAAAAVAhqAAAAVAhvAAB6VCIOFQAAcgAgGAAAfAAgGQAAfAAgaAEAAAABaQEAAAAEagEAAAAEawEAAAABbAEAAAABbQEAAAABbgEAAAABbwEAewAhdQEAAAABdgEAAAABdwEAAAABC2gBAAAAAWkBAAAABGoBAAAABGsBAAAAAWwBAAAAAW0BAAAAAW4BAAAAAW8BAHwAIXUBAAAAAXYBAAAAAXcBAAAAAQ0VAAByACAWAAB-ACAXAAByACAYAAByACAZAAByACBoAgAAAAFpAgAAAARqAgAAAARrAgAAAAFsAgAAAAFtAgAAAAFuAgAAAAFvAgB9ACEIaAgAAAABaQgAAAAEaggAAAAEawgAAAABbAgAAAABbQgAAAABbggAAAABbwgAfgAhG0wAAH8AME0AAE8AEE4AAH8AME8CAIABACFQAQCBAQAhUQEAgQEAIVIBAIEBACFUAACCAVQiVSAAgwEAIVYCAIABACFXAQCEAQAhWAAAhQEAIFkBAIEBACFaAACFAQAgWwAAhQEAIFwBAIEBACFdAQCEAQAhXgEAhAEAIV8BAIEBACFgAQCEAQAhYQEAhAEAIWIBAIQBACFjQACGAQAhZEAAhwEAIWVAAIcBACFmQACGAQAhZ0AAhwEAIQhoAgAAAAFpAgAAAARqAgAAAARrAgAAAAFsAgAAAAFtAgAAAAFuAgAAAAFvAgByACELaAEAAAABaQEAAAAEagEAAAAEawEAAAABbAEAAAABbQEAAAABbgEAAAABbwEAfAAhdQEAAAABdgEAAAABdwEAAAABBGgAAABUAmkAAABUCGoAAABUCG8AAHpUIgJoIAAAAAFvIAB4ACELaAEAAAABaQEAAAAFagEAAAAFawEAAAABbAEAAAABbQEAAAABbgEAAAABbwEAdgAhdQEAAAABdgEAAAABdwEAAAABB2iAAAAAAW-AAAAAAXABAAAAAXEBAAAAAXIBAAAAAXOAAAAAAXSAAAAAAQhoQAAAAAFpQAAAAARqQAAAAARrQAAAAAFsQAAAAAFtQAAAAAFuQAAAAAFvQABzACEIaEAAAAABaUAAAAAFakAAAAAFa0AAAAABbEAAAAABbUAAAAABbkAAAAABb0AAcAAhG0wAAIgBADBNAABJABBOAACIAQAwTwIAZgAhUAEAZwAhUQEAZwAhUgEAZwAhVAAAigF_IlgAAGsAIFsAAGsAIF8BAGoAIWABAGoAIWEBAGoAIWIBAGoAIWNAAGwAIWZAAGwAIWdAAG0AIXgBAGcAIXkBAGcAIXoBAGoAIXsCAGYAIX0AAIkBfSJ_AABrACCAAQAAawAggQEAAGsAIIIBAgBmACGDAQIAZgAhBxUAAHIAIBgAAI4BACAZAACOAQAgaAAAAH0CaQAAAH0IagAAAH0IbwAAjQF9IgcVAAByACAYAACMAQAgGQAAjAEAIGgAAAB_AmkAAAB_CGoAAAB_CG8AAIsBfyIHFQAAcgAgGAAAjAEAIBkAAIwBACBoAAAAfwJpAAAAfwhqAAAAfwhvAACLAX8iBGgAAAB_AmkAAAB_CGoAAAB_CG8AAIwBfyIHFQAAcgAgGAAAjgEAIBkAAI4BACBoAAAAfQJpAAAAfQhqAAAAfQhvAACNAX0iBGgAAAB9AmkAAAB9CGoAAAB9CG8AAI4BfSIbTAAAjwEAME0AADYAEE4AAI8BADBPAgCAAQAhUAEAgQEAIVEBAIEBACFSAQCBAQAhVAAAkQF_IlgAAIUBACBbAACFAQAgXwEAhAEAIWABAIQBACFhAQCEAQAhYgEAhAEAIWNAAIYBACFmQACGAQAhZ0AAhwEAIXgBAIEBACF5AQCBAQAhegEAhAEAIXsCAIABACF9AACQAX0ifwAAhQEAIIABAACFAQAggQEAAIUBACCCAQIAgAEAIYMBAgCAAQAhBGgAAAB9AmkAAAB9CGoAAAB9CG8AAI4BfSIEaAAAAH8CaQAAAH8IagAAAH8IbwAAjAF_IgJQAQAAAAGCAQIAAAABGEwAAJMBADBNAAAwABBOAACTAQAwTwIAZgAhUAEAagAhUQEAZwAhUgEAagAhWwAAawAgXwEAagAhYAEAagAhYQEAagAhYgEAagAhY0AAbAAhZkAAbAAhZ0AAbQAheAEAagAhfQEAZwAhggECAGYAIYUBAQBnACGHAQAAlAGHASKIAQAAlQEAIIkBAQBqACGKAQEAagAhjAEAAJYBjAEiBxUAAHIAIBgAAJsBACAZAACbAQAgaAAAAIcBAmkAAACHAQhqAAAAhwEIbwAAmgGHASIKFQAAcgAgGAAAmQEAIBkAAJkBACBogAAAAAFvgAAAAAFwAQAAAAFxAQAAAAFyAQAAAAFzgAAAAAF0gAAAAAEHFQAAcgAgGAAAmAEAIBkAAJgBACBoAAAAjAECaQAAAIwBCGoAAACMAQhvAACXAYwBIgcVAAByACAYAACYAQAgGQAAmAEAIGgAAACMAQJpAAAAjAEIagAAAIwBCG8AAJcBjAEiBGgAAACMAQJpAAAAjAEIagAAAIwBCG8AAJgBjAEiB2iAAAAAAW-AAAAAAXABAAAAAXEBAAAAAXIBAAAAAXOAAAAAAXSAAAAAAQcVAAByACAYAACbAQAgGQAAmwEAIGgAAACHAQJpAAAAhwEIagAAAIcBCG8AAJoBhwEiBGgAAACHAQJpAAAAhwEIagAAAIcBCG8AAJsBhwEiGEwAAJwBADBNAAAdABBOAACcAQAwTwIAgAEAIVABAIQBACFRAQCBAQAhUgEAhAEAIVsAAIUBACBfAQCEAQAhYAEAhAEAIWEBAIQBACFiAQCEAQAhY0AAhgEAIWZAAIYBACFnQACHAQAheAEAhAEAIX0BAIEBACGCAQIAgAEAIYUBAQCBAQAhhwEAAJ0BhwEiiAEAAJ4BACCJAQEAhAEAIYoBAQCEAQAhjAEAAJ8BjAEiBGgAAACHAQJpAAAAhwEIagAAAIcBCG8AAJsBhwEiB2iAAAAAAW-AAAAAAXABAAAAAXEBAAAAAXIBAAAAAXOAAAAAAXSAAAAAAQRoAAAAjAECaQAAAIwBCGoAAACMAQhvAACYAYwBIgJRAQAAAAGCAQIAAAABGUwAAKEBADBNAAAXABBOAAChAQAwTwIAZgAhUQEAZwAhUgEAZwAhVAAAogGSASJbAABrACBfAQBnACFgAQBqACFhAQBqACFiAQBqACFjQABsACFmQABsACFnQABtACGOAQEAagAhjwEBAGoAIZABAQBnACGSASAAaQAhkwEgAGkAIZUBAACjAZUBIpYBAgBmACGXAUAAbQAhmAFAAGwAIZkBAgBmACEHFQAAcgAgGAAApwEAIBkAAKcBACBoAAAAkgECaQAAAJIBCGoAAACSAQhvAACmAZIBIgcVAAByACAYAAClAQAgGQAApQEAIGgAAACVAQJpAAAAlQEIagAAAJUBCG8AAKQBlQEiBxUAAHIAIBgAAKUBACAZAAClAQAgaAAAAJUBAmkAAACVAQhqAAAAlQEIbwAApAGVASIEaAAAAJUBAmkAAACVAQhqAAAAlQEIbwAApQGVASIHFQAAcgAgGAAApwEAIBkAAKcBACBoAAAAkgECaQAAAJIBCGoAAACSAQhvAACmAZIBIgRoAAAAkgECaQAAAJIBCGoAAACSAQhvAACnAZIBIhlMAACoAQAwTQAABAAQTgAAqAEAME8CAIABACFRAQCBAQAhUgEAgQEAIVQAAKkBkgEiWwAAhQEAIF8BAIEBACFgAQCEAQAhYQEAhAEAIWIBAIQBACFjQACGAQAhZkAAhgEAIWdAAIcBACGOAQEAhAEAIY8BAQCEAQAhkAEBAIEBACGSASAAgwEAIZMBIACDAQAhlQEAAKoBlQEilgECAIABACGXAUAAhwEAIZgBQACGAQAhmQECAIABACEEaAAAAJIBAmkAAACSAQhqAAAAkgEIbwAApwGSASIEaAAAAJUBAmkAAACVAQhqAAAAlQEIbwAApQGVASIAAAAAAAABmgEBAAAAAQGaAQAAAFQCAZoBIAAAAAEFmgECAAAAAZsBAgAAAAGcAQIAAAABnQECAAAAAZ4BAgAAAAEBmgEBAAAAAQGaAUAAAAABAZoBQAAAAAEAAAAAAAGaAQAAAH0CAZoBAAAAfwIAAAAAAAGaAQAAAIcBAgGaAQAAAIwBAgAAAAAAAZoBAAAAkgECAZoBAAAAlQECAAAAAAUVAAYWAAcXAAgYAAkZAAoAAAAAAAUVAAYWAAcXAAgYAAkZAAoAAAAFFQAQFgARFwASGAATGQAUAAAAAAAFFQAQFgARFwASGAATGQAUAAAABRUAGhYAGxcAHBgAHRkAHgAAAAAABRUAGhYAGxcAHBgAHRkAHgAAAAUVACQWACUXACYYACcZACgAAAAAAAUVACQWACUXACYYACcZACgBAgECAwEFBgEGBwEHCAEJCgEKDAILDQMMDwENEQIOEgQREwESFAETFQIaGAUbGQscGwwdHAweHwwfIAwgIQwhIwwiJQIjJg0kKAwlKgImKw4nLAwoLQwpLgIqMQ8rMhUsNBYtNRYuOBYvORYwOhYxPBYyPgIzPxc0QRY1QwI2RBg3RRY4RhY5RwI6Shk7Sx88TSA9TiA-USA_UiBAUyBBVSBCVwJDWCFEWiBFXAJGXSJHXiBIXyBJYAJKYyNLZCk"
};
async function decodeBase64AsWasm(wasmBase64) {
  const { Buffer: Buffer2 } = await import("node:buffer");
  const wasmArray = Buffer2.from(wasmBase64, "base64");
  return new WebAssembly.Module(wasmArray);
}
config.compilerWasm = {
  getRuntime: async () => await import("@prisma/client/runtime/query_compiler_fast_bg.sqlite.mjs"),
  getQueryCompilerWasmModule: async () => {
    const { wasm } = await import("@prisma/client/runtime/query_compiler_fast_bg.sqlite.wasm-base64.mjs");
    return await decodeBase64AsWasm(wasm);
  },
  importName: "./query_compiler_fast_bg.js"
};
function getPrismaClientClass() {
  return runtime.getPrismaClient(config);
}

// server/adapters/prisma/generated/sqlite/internal/prismaNamespace.ts
var prismaNamespace_exports = {};
__export(prismaNamespace_exports, {
  AgentChatScalarFieldEnum: () => AgentChatScalarFieldEnum,
  AgentMessageScalarFieldEnum: () => AgentMessageScalarFieldEnum,
  AgentStepScalarFieldEnum: () => AgentStepScalarFieldEnum,
  AgentTurnScalarFieldEnum: () => AgentTurnScalarFieldEnum,
  AnyNull: () => AnyNull2,
  DbNull: () => DbNull2,
  Decimal: () => Decimal2,
  JsonNull: () => JsonNull2,
  JsonNullValueFilter: () => JsonNullValueFilter,
  JsonNullValueInput: () => JsonNullValueInput,
  ModelName: () => ModelName,
  NullTypes: () => NullTypes2,
  NullableJsonNullValueInput: () => NullableJsonNullValueInput,
  NullsOrder: () => NullsOrder,
  PrismaClientInitializationError: () => PrismaClientInitializationError2,
  PrismaClientKnownRequestError: () => PrismaClientKnownRequestError2,
  PrismaClientRustPanicError: () => PrismaClientRustPanicError2,
  PrismaClientUnknownRequestError: () => PrismaClientUnknownRequestError2,
  PrismaClientValidationError: () => PrismaClientValidationError2,
  QueryMode: () => QueryMode,
  SortOrder: () => SortOrder,
  Sql: () => Sql2,
  TransactionIsolationLevel: () => TransactionIsolationLevel,
  defineExtension: () => defineExtension,
  empty: () => empty2,
  getExtensionContext: () => getExtensionContext,
  join: () => join3,
  prismaVersion: () => prismaVersion,
  raw: () => raw2,
  sql: () => sql
});
import * as runtime2 from "@prisma/client/runtime/client";
var PrismaClientKnownRequestError2 = runtime2.PrismaClientKnownRequestError;
var PrismaClientUnknownRequestError2 = runtime2.PrismaClientUnknownRequestError;
var PrismaClientRustPanicError2 = runtime2.PrismaClientRustPanicError;
var PrismaClientInitializationError2 = runtime2.PrismaClientInitializationError;
var PrismaClientValidationError2 = runtime2.PrismaClientValidationError;
var sql = runtime2.sqltag;
var empty2 = runtime2.empty;
var join3 = runtime2.join;
var raw2 = runtime2.raw;
var Sql2 = runtime2.Sql;
var Decimal2 = runtime2.Decimal;
var getExtensionContext = runtime2.Extensions.getExtensionContext;
var prismaVersion = {
  client: "7.10.0",
  engine: "0edf323efd1d98336f3f0a68684b56f689b900d3"
};
var NullTypes2 = {
  DbNull: runtime2.NullTypes.DbNull,
  JsonNull: runtime2.NullTypes.JsonNull,
  AnyNull: runtime2.NullTypes.AnyNull
};
var DbNull2 = runtime2.DbNull;
var JsonNull2 = runtime2.JsonNull;
var AnyNull2 = runtime2.AnyNull;
var ModelName = {
  AgentChat: "AgentChat",
  AgentMessage: "AgentMessage",
  AgentStep: "AgentStep",
  AgentTurn: "AgentTurn"
};
var TransactionIsolationLevel = runtime2.makeStrictEnum({
  Serializable: "Serializable"
});
var AgentChatScalarFieldEnum = {
  id: "id",
  chatId: "chatId",
  title: "title",
  titleSearch: "titleSearch",
  assistantId: "assistantId",
  mode: "mode",
  status: "status",
  preset: "preset",
  public: "public",
  share: "share",
  sort: "sort",
  lastMessageAt: "lastMessageAt",
  activityAt: "activityAt",
  lastSequence: "lastSequence",
  metadata: "metadata",
  createdBy: "createdBy",
  updatedBy: "updatedBy",
  teamId: "teamId",
  tenantId: "tenantId",
  createdAt: "createdAt",
  updatedAt: "updatedAt",
  deletedAt: "deletedAt"
};
var AgentMessageScalarFieldEnum = {
  id: "id",
  messageId: "messageId",
  chatId: "chatId",
  requestId: "requestId",
  role: "role",
  type: "type",
  props: "props",
  blockId: "blockId",
  threadId: "threadId",
  stepId: "stepId",
  assistantId: "assistantId",
  sequence: "sequence",
  state: "state",
  metadata: "metadata",
  createdBy: "createdBy",
  updatedBy: "updatedBy",
  teamId: "teamId",
  tenantId: "tenantId",
  createdAt: "createdAt",
  updatedAt: "updatedAt",
  deletedAt: "deletedAt"
};
var AgentStepScalarFieldEnum = {
  id: "id",
  stepId: "stepId",
  chatId: "chatId",
  requestId: "requestId",
  assistantId: "assistantId",
  stackId: "stackId",
  stackParentId: "stackParentId",
  stackDepth: "stackDepth",
  type: "type",
  status: "status",
  input: "input",
  output: "output",
  spaceSnapshot: "spaceSnapshot",
  error: "error",
  sequence: "sequence",
  beginOrder: "beginOrder",
  metadata: "metadata",
  createdBy: "createdBy",
  updatedBy: "updatedBy",
  teamId: "teamId",
  tenantId: "tenantId",
  createdAt: "createdAt",
  updatedAt: "updatedAt",
  deletedAt: "deletedAt"
};
var AgentTurnScalarFieldEnum = {
  id: "id",
  requestId: "requestId",
  chatId: "chatId",
  assistantId: "assistantId",
  status: "status",
  background: "background",
  attempt: "attempt",
  stopReason: "stopReason",
  error: "error",
  fingerprint: "fingerprint",
  usage: "usage",
  metadata: "metadata",
  rootStackId: "rootStackId",
  regenerates: "regenerates",
  openedBy: "openedBy",
  createdBy: "createdBy",
  updatedBy: "updatedBy",
  teamId: "teamId",
  tenantId: "tenantId",
  createdAt: "createdAt",
  startedAt: "startedAt",
  endedAt: "endedAt",
  updatedAt: "updatedAt",
  deletedAt: "deletedAt"
};
var SortOrder = {
  asc: "asc",
  desc: "desc"
};
var NullableJsonNullValueInput = {
  DbNull: DbNull2,
  JsonNull: JsonNull2
};
var JsonNullValueInput = {
  JsonNull: JsonNull2
};
var JsonNullValueFilter = {
  DbNull: DbNull2,
  JsonNull: JsonNull2,
  AnyNull: AnyNull2
};
var QueryMode = {
  default: "default",
  insensitive: "insensitive"
};
var NullsOrder = {
  first: "first",
  last: "last"
};
var defineExtension = runtime2.Extensions.defineExtension;

// server/adapters/prisma/generated/sqlite/client.ts
globalThis["__dirname"] = path2.dirname(fileURLToPath2("file:///work/main/server/adapters/prisma/migrate.ts"));
var PrismaClient = getPrismaClientClass();

// server/adapters/prisma/json-columns.ts
function jsonIn(value) {
  return value ?? prismaNamespace_exports.DbNull;
}
function jsonPatch(value) {
  return value === void 0 ? void 0 : jsonIn(value);
}

// server/adapters/prisma/rows.ts
var iso = (time3) => time3.toISOString();
var isoOrNull = (time3) => time3?.toISOString() ?? null;
var select = (columns) => columns.split(" ").map((column) => `${column} AS "${column.replace(/_(.)/g, (_, letter) => letter.toUpperCase())}"`).join(", ");
var CHAT_COLUMNS = select(
  "chat_id title assistant_id mode status preset public share sort last_message_at metadata created_by team_id tenant_id created_at updated_at"
);
var MESSAGE_COLUMNS = select(
  "message_id chat_id request_id role type props block_id thread_id step_id assistant_id sequence state metadata created_at updated_at"
);
function chatOf(row) {
  return {
    chatId: row.chatId,
    title: row.title,
    assistantId: row.assistantId,
    mode: row.mode,
    status: row.status,
    preset: row.preset,
    public: row.public,
    share: row.share,
    sort: row.sort,
    lastMessageAt: isoOrNull(row.lastMessageAt),
    metadata: row.metadata,
    createdBy: row.createdBy,
    teamId: row.teamId,
    tenantId: row.tenantId,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt)
  };
}
function messageOf(row) {
  return {
    messageId: row.messageId,
    chatId: row.chatId,
    requestId: row.requestId,
    role: row.role,
    type: row.type,
    props: row.props,
    blockId: row.blockId,
    threadId: row.threadId,
    stepId: row.stepId,
    assistantId: row.assistantId,
    sequence: row.sequence,
    state: row.state,
    metadata: row.metadata,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt)
  };
}
function turnRecordOf(row) {
  return {
    turn: {
      requestId: row.requestId,
      chatId: row.chatId,
      assistantId: row.assistantId,
      status: row.status,
      background: row.background,
      attempt: row.attempt,
      stopReason: row.stopReason,
      error: row.error,
      usage: row.usage,
      metadata: row.metadata,
      createdBy: row.createdBy,
      createdAt: iso(row.createdAt),
      startedAt: isoOrNull(row.startedAt),
      endedAt: isoOrNull(row.endedAt)
    },
    fingerprint: row.fingerprint,
    rootStackId: row.rootStackId,
    regenerates: row.regenerates,
    openedBy: row.openedBy
  };
}
function stepOf(row) {
  return {
    stepId: row.stepId,
    chatId: row.chatId,
    requestId: row.requestId,
    assistantId: row.assistantId,
    stackId: row.stackId,
    stackParentId: row.stackParentId,
    stackDepth: row.stackDepth,
    type: row.type,
    status: row.status,
    input: row.input,
    output: row.output,
    spaceSnapshot: row.spaceSnapshot,
    error: row.error,
    sequence: row.sequence,
    metadata: row.metadata,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt)
  };
}
var stepRecordOf = (row) => ({ step: stepOf(row), beginOrder: row.beginOrder });

// server/adapters/prisma/title-search.ts
function foldTitle(text2) {
  return text2.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("\u03C2", "\u03C3").replaceAll("i\u0307", "i").normalize("NFKC");
}

// server/adapters/prisma/chats.ts
var folded = (title2) => title2 === null ? null : foldTitle(title2);
async function createChat(database, { lastMessageAt, metadata: metadata2, ...chat3 }) {
  const data = {
    ...chat3,
    titleSearch: folded(chat3.title),
    lastMessageAt,
    activityAt: lastMessageAt ?? chat3.createdAt,
    lastSequence: 0,
    metadata: jsonIn(metadata2)
  };
  await database.write((client) => client.agentChat.create({ data, select: { id: true } }));
}
async function getChat(database, chatId) {
  const row = await database.read((client) => client.agentChat.findUnique({ where: { chatId, deletedAt: null } }));
  return row && chatOf(row);
}
async function isChatIdTaken(database, chatId) {
  const row = await database.read((client) => client.agentChat.findUnique({ where: { chatId }, select: { id: true } }));
  return row !== null;
}
async function updateChat(database, chatId, { metadata: metadata2, ...patch }, at2) {
  const data = {
    ...patch,
    ...patch.title === void 0 ? {} : { titleSearch: folded(patch.title) },
    metadata: jsonPatch(metadata2),
    updatedAt: at2
  };
  return chatOf(await database.write((client) => client.agentChat.update({ where: { chatId, deletedAt: null }, data })));
}
var DELETE_CHUNK = 500;
async function deleteChat(database, chatId, at2) {
  const time3 = timeIn(at2);
  await database.transaction(async (sql2) => {
    const found = await sql2.query("SELECT last_sequence FROM agent_chat WHERE chat_id = ? AND deleted_at IS NULL", [chatId]);
    if (!found[0]) throw new ChatError("not_found");
    await sql2.run("UPDATE agent_chat SET deleted_at = ?, updated_at = ? WHERE chat_id = ?", [time3, time3, chatId]);
    for (let from = 0; from <= Number(found[0].last_sequence); from += DELETE_CHUNK) {
      await sql2.run(
        "UPDATE agent_message SET deleted_at = ? WHERE chat_id = ? AND sequence >= ? AND sequence < ? AND deleted_at IS NULL",
        [time3, chatId, from, from + DELETE_CHUNK]
      );
    }
    for (const table of ["agent_turn", "agent_step"]) {
      const chunk = `SELECT id FROM ${table} WHERE chat_id = ? AND deleted_at IS NULL LIMIT ${DELETE_CHUNK}`;
      while (await sql2.run(`UPDATE ${table} SET deleted_at = ? WHERE id IN (${chunk})`, [time3, chatId]) === DELETE_CHUNK) ;
    }
  });
}
async function nextSequence(database, chatId) {
  const row = await database.read(
    (client) => client.agentChat.findUnique({ where: { chatId }, select: { lastSequence: true } })
  );
  return (row?.lastSequence ?? 0) + 1;
}
async function ownerIn(sql2, chatId) {
  const [row] = await sql2.query(
    "SELECT created_by, team_id, tenant_id FROM agent_chat WHERE chat_id = ? AND deleted_at IS NULL",
    [chatId]
  );
  if (!row) throw new ChatError("not_found");
  return {
    createdBy: row.created_by,
    teamId: row.team_id,
    tenantId: row.tenant_id
  };
}
var TIME_COLUMNS = {
  lastMessageAt: "activity_at",
  createdAt: "created_at",
  updatedAt: "updated_at"
};
async function listChats(database, filter) {
  const { page: page2, pageSize } = filter;
  const { where, args } = conditionsOf(filter);
  const direction = filter.order === "asc" ? "ASC" : "DESC";
  const order = `${TIME_COLUMNS[filter.orderBy ?? "lastMessageAt"]} ${direction}, chat_id ${direction}`;
  return database.read(async (client) => {
    const rows = await client.$queryRawUnsafe(
      `SELECT ${CHAT_COLUMNS} FROM agent_chat WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
      ...args,
      pageSize,
      (page2 - 1) * pageSize
    );
    const counted = await client.$queryRawUnsafe(
      `SELECT count(*) AS total FROM agent_chat WHERE ${where}`,
      ...args
    );
    const total = Number(counted[0].total);
    return { data: rows.map(chatOf), page: page2, pageSize, pageCount: Math.max(1, Math.ceil(total / pageSize)), total };
  });
}
function conditionsOf(filter) {
  const where = ["deleted_at IS NULL"];
  const args = [];
  const add = (condition, ...values) => {
    where.push(condition);
    args.push(...values);
  };
  if (filter.tenantId === null) add("tenant_id IS NULL");
  else add("tenant_id = ?", filter.tenantId);
  if (!filter.anyOf.some((scope) => "everything" in scope)) {
    const scopes = filter.anyOf.map((scope) => {
      if ("createdBy" in scope) return ["created_by = ?", scope.createdBy];
      if ("teamId" in scope) return [`team_id = ? AND share = 'team'`, scope.teamId];
      return ["public = ?", true];
    });
    add(`(${scopes.map(([condition]) => `(${condition})`).join(" OR ") || "1 = 0"})`, ...scopes.map(([, value]) => value));
  }
  if (filter.assistantId !== void 0) add("assistant_id = ?", filter.assistantId);
  if (filter.status !== void 0) add("status = ?", filter.status);
  const keywords = foldTitle(filter.keywords ?? "");
  if (keywords !== "") add(contains("title_search"), keywords);
  const field = TIME_COLUMNS[filter.timeField ?? "lastMessageAt"];
  if (filter.startTime !== void 0) add(`${field} >= ?`, instant(filter.startTime));
  if (filter.endTime !== void 0) add(`${field} <= ?`, instant(filter.endTime));
  return { where: where.join(" AND "), args };
}
var instant = (time3) => timeIn(new Date(time3).toISOString());

// server/adapters/prisma/storage-error.ts
import { isDriverAdapterError } from "@prisma/driver-adapter-utils";
function faultOf(error) {
  if (error instanceof prismaNamespace_exports.PrismaClientKnownRequestError) {
    if (error.code === "P2002") return "taken";
    if (error.code === "P2025") return "missing";
    return faultOf(error.meta?.driverAdapterError);
  }
  if (!isDriverAdapterError(error)) return "other";
  const { kind } = error.cause;
  return kind === "UniqueConstraintViolation" || kind === "NullConstraintViolation" ? "taken" : "other";
}
function storageError(error) {
  if (error instanceof ChatError) return error;
  if (faultOf(error) === "taken") return new ChatError("conflict", "This id is taken.", { cause: error });
  if (faultOf(error) === "missing") return new ChatError("not_found", void 0, { cause: error });
  return new ChatError("storage_unavailable", void 0, { cause: error });
}

// server/adapters/prisma/database.ts
var Database2 = class {
  constructor(connection, onTransaction) {
    this.connection = connection;
    this.onTransaction = onTransaction;
    this.#client = new PrismaClient({ adapter: connection, errorFormat: "minimal" });
  }
  connection;
  onTransaction;
  #client;
  #running = /* @__PURE__ */ new Set();
  #closed;
  /** Reads. Each statement sees what was committed before it. */
  read(work) {
    return this.#run("read", () => work(this.#client));
  }
  /** One statement that writes, and is a transaction by itself. */
  write(work) {
    return this.#run("write", () => work(this.#client));
  }
  /** Statements that are stored all or none. */
  transaction(work) {
    return this.#run("write", async () => (await this.connection.connect()).transaction(work));
  }
  /** Takes no more work, waits for what is running and closes the connection. */
  close() {
    this.#closed ??= this.#close();
    return this.#closed;
  }
  async #close() {
    await Promise.allSettled(this.#running);
    await this.#client.$disconnect();
    await this.connection.close();
  }
  async #run(kind, work) {
    if (this.#closed) throw new ChatError("storage_unavailable", "The storage is closed.");
    const running = work();
    this.#running.add(running);
    try {
      const result = await running;
      this.onTransaction(kind);
      return result;
    } catch (error) {
      throw storageError(error);
    } finally {
      this.#running.delete(running);
    }
  }
};

// server/adapters/prisma/bulk.ts
var MAX_CHUNK_ROWS = 200;
var MAX_CHUNK_CHARS = 256 * 1024;
var BulkStatement = class {
  /** @param sql makes the statement from the source of its rows, a SELECT */
  constructor(columns, sql2) {
    this.columns = columns;
    this.#sql = sql2(rowsOfParameter(columns.map(([name, kind]) => [name, kind])));
  }
  columns;
  #sql;
  async run(sql2, sources) {
    for (const chunk of this.#chunks(sources)) await sql2.run(this.#sql, [chunk]);
  }
  /** Made one by one, so that the text of a huge list is never made at a stretch. */
  *#chunks(sources) {
    let rows = [];
    let chars = 0;
    for (const source of sources) {
      const row = JSON.stringify(this.columns.map(([, , value]) => value(source)));
      if (rows.length > 0 && (rows.length === MAX_CHUNK_ROWS || chars + row.length > MAX_CHUNK_CHARS)) {
        yield `[${rows.join(",")}]`;
        rows = [];
        chars = 0;
      }
      rows.push(row);
      chars += row.length;
    }
    if (rows.length > 0) yield `[${rows.join(",")}]`;
  }
};
function upsert(table, columns, options) {
  const { key, owner, keep = [], when } = options;
  const names = columns.map(([name]) => name);
  const own = owner.map((name) => `${table}.${name} IS NOT DISTINCT FROM excluded.${name}`).join(" AND ");
  const kept = /* @__PURE__ */ new Set([key, ...owner, ...keep]);
  const changes = names.filter((name) => !kept.has(name)).map((name) => `${name} = excluded.${name}`);
  return new BulkStatement(
    columns,
    (rows) => `INSERT INTO ${table} (${names.join(", ")}) SELECT * FROM (${rows}) AS rows WHERE true ON CONFLICT (${key}) DO UPDATE SET ${key} = CASE WHEN ${own} THEN excluded.${key} END, ${changes.join(", ")} WHERE (${when}) OR NOT (${own})`
  );
}

// server/adapters/prisma/tables.ts
var time = (iso2) => iso2 === null ? null : timeIn(iso2);
var json2 = (value) => value ?? null;
var ownerColumns = [
  ["created_by", "text", ({ owner }) => owner.createdBy],
  ["team_id", "text", ({ owner }) => owner.teamId],
  ["tenant_id", "text", ({ owner }) => owner.tenantId]
];
var ownerNames = ownerColumns.map(([name]) => name);
var chatColumns = [
  ["chat_id", "text", (chat3) => chat3.chatId],
  ["title", "text", (chat3) => chat3.title],
  ["title_search", "text", (chat3) => chat3.title === null ? null : foldTitle(chat3.title)],
  ["assistant_id", "text", (chat3) => chat3.assistantId],
  ["mode", "text", (chat3) => chat3.mode],
  ["status", "text", (chat3) => chat3.status],
  ["preset", "boolean", (chat3) => chat3.preset],
  ["public", "boolean", (chat3) => chat3.public],
  ["share", "text", (chat3) => chat3.share],
  ["sort", "integer", (chat3) => chat3.sort],
  ["last_message_at", "time", (chat3) => time(chat3.lastMessageAt)],
  ["activity_at", "time", (chat3) => timeIn(chat3.lastMessageAt ?? chat3.createdAt)],
  ["last_sequence", "integer", () => 0],
  ["metadata", "json", (chat3) => json2(chat3.metadata)],
  ["created_by", "text", (chat3) => chat3.createdBy],
  ["team_id", "text", (chat3) => chat3.teamId],
  ["tenant_id", "text", (chat3) => chat3.tenantId],
  ["created_at", "time", (chat3) => timeIn(chat3.createdAt)],
  ["updated_at", "time", (chat3) => timeIn(chat3.updatedAt)]
];
var insertChats = new BulkStatement(
  chatColumns,
  (rows) => `INSERT INTO agent_chat (${chatColumns.map(([name]) => name).join(", ")}) ${rows}`
);
var later = (column, than) => `CASE WHEN ${than} IS NOT NULL AND (${column} IS NULL OR ${column} < ${than}) THEN ${than} ELSE ${column} END`;
var raiseActivity = new BulkStatement(
  [
    ["of_chat", "text", (activity) => activity.chatId],
    ["sequence", "integer", (activity) => activity.lastSequence],
    ["message_at", "time", (activity) => time(activity.messageAt)],
    ["at", "time", (activity) => timeIn(activity.at)]
  ],
  (rows) => `UPDATE agent_chat SET last_sequence = ${later("last_sequence", "rows.sequence")}, last_message_at = ${later("last_message_at", "rows.message_at")}, activity_at = CASE WHEN last_message_at IS NULL AND rows.message_at IS NOT NULL THEN rows.message_at ELSE ${later("activity_at", "rows.message_at")} END, updated_at = ${later("updated_at", "rows.at")} FROM (${rows}) AS rows WHERE agent_chat.chat_id = rows.of_chat AND agent_chat.deleted_at IS NULL`
);
var messageColumns = [
  ["message_id", "text", ({ message: message2 }) => message2.messageId],
  ["chat_id", "text", ({ message: message2 }) => message2.chatId],
  ["request_id", "text", ({ message: message2 }) => message2.requestId],
  ["role", "text", ({ message: message2 }) => message2.role],
  ["type", "text", ({ message: message2 }) => message2.type],
  ["props", "json", ({ message: message2 }) => message2.props],
  ["block_id", "text", ({ message: message2 }) => message2.blockId],
  ["thread_id", "text", ({ message: message2 }) => message2.threadId],
  ["step_id", "text", ({ message: message2 }) => message2.stepId],
  ["assistant_id", "text", ({ message: message2 }) => message2.assistantId],
  ["sequence", "integer", ({ message: message2 }) => message2.sequence],
  ["state", "text", ({ message: message2 }) => message2.state],
  ["metadata", "json", ({ message: message2 }) => json2(message2.metadata)],
  ["created_at", "time", ({ message: message2 }) => timeIn(message2.createdAt)],
  ["updated_at", "time", ({ message: message2 }) => timeIn(message2.updatedAt)],
  ...ownerColumns
];
var upsertMessages = upsert("agent_message", messageColumns, {
  key: "message_id",
  owner: ["chat_id", "request_id"],
  keep: ownerNames,
  when: "agent_message.deleted_at IS NULL"
});
var deleteMessages = new BulkStatement(
  [
    ["of_message", "text", (deletion) => deletion.messageId],
    ["of_chat", "text", (deletion) => deletion.chatId],
    ["at", "time", (deletion) => timeIn(deletion.at)]
  ],
  (rows) => `UPDATE agent_message SET deleted_at = rows.at FROM (${rows}) AS rows WHERE agent_message.message_id = rows.of_message AND agent_message.chat_id = rows.of_chat AND agent_message.deleted_at IS NULL`
);
var turnColumns = [
  ["request_id", "text", ({ record }) => record.turn.requestId],
  ["chat_id", "text", ({ record }) => record.turn.chatId],
  ["assistant_id", "text", ({ record }) => record.turn.assistantId],
  ["status", "text", ({ record }) => record.turn.status],
  ["background", "boolean", ({ record }) => record.turn.background],
  ["attempt", "integer", ({ record }) => record.turn.attempt],
  ["stop_reason", "text", ({ record }) => record.turn.stopReason],
  ["error", "json", ({ record }) => json2(record.turn.error)],
  ["fingerprint", "text", ({ record }) => record.fingerprint],
  ["usage", "json", ({ record }) => json2(record.turn.usage)],
  ["metadata", "json", ({ record }) => json2(record.turn.metadata)],
  ["root_stack_id", "text", ({ record }) => record.rootStackId],
  ["regenerates", "text", ({ record }) => record.regenerates],
  ["opened_by", "text", ({ record }) => record.openedBy],
  ["created_at", "time", ({ record }) => timeIn(record.turn.createdAt)],
  ["started_at", "time", ({ record }) => time(record.turn.startedAt)],
  ["ended_at", "time", ({ record }) => time(record.turn.endedAt)],
  ["updated_at", "time", ({ at: at2 }) => timeIn(at2)],
  ...ownerColumns
];
var upsertTurns = upsert("agent_turn", turnColumns, {
  key: "request_id",
  owner: ["chat_id", "created_by", "fingerprint"],
  keep: ["created_at", "team_id", "tenant_id"],
  when: "agent_turn.deleted_at IS NULL AND agent_turn.attempt <= excluded.attempt"
});
var stepColumns = [
  ["step_id", "text", ({ record }) => record.step.stepId],
  ["chat_id", "text", ({ record }) => record.step.chatId],
  ["request_id", "text", ({ record }) => record.step.requestId],
  ["assistant_id", "text", ({ record }) => record.step.assistantId],
  ["stack_id", "text", ({ record }) => record.step.stackId],
  ["stack_parent_id", "text", ({ record }) => record.step.stackParentId],
  ["stack_depth", "integer", ({ record }) => record.step.stackDepth],
  ["type", "text", ({ record }) => record.step.type],
  ["status", "text", ({ record }) => record.step.status],
  ["input", "json", ({ record }) => json2(record.step.input)],
  ["output", "json", ({ record }) => json2(record.step.output)],
  ["space_snapshot", "json", ({ record }) => json2(record.step.spaceSnapshot)],
  ["error", "json", ({ record }) => json2(record.step.error)],
  ["sequence", "integer", ({ record }) => record.step.sequence],
  ["begin_order", "integer", ({ record }) => record.beginOrder],
  ["metadata", "json", ({ record }) => json2(record.step.metadata)],
  ["created_at", "time", ({ record }) => timeIn(record.step.createdAt)],
  ["updated_at", "time", ({ record }) => timeIn(record.step.updatedAt)],
  ...ownerColumns
];
var upsertSteps = upsert("agent_step", stepColumns, {
  key: "step_id",
  owner: ["chat_id", "request_id"],
  keep: ownerNames,
  when: `agent_step.deleted_at IS NULL AND (agent_step.status <> 'completed' OR excluded.status = 'completed')`
});

// server/adapters/prisma/messages.ts
var READ_CHUNK = 500;
async function getMessages(database, chatId, query) {
  const fromOldest = query.after !== void 0 || query.offset !== void 0 || query.limit === void 0;
  const limit2 = query.limit ?? Infinity;
  const { where, args } = conditionsOf2(chatId, query);
  return database.read(async (client) => {
    const messages = [];
    let more = where;
    let moreArgs = args;
    while (messages.length < limit2) {
      const take = Math.min(READ_CHUNK, limit2 - messages.length);
      const skip = messages.length === 0 ? query.offset ?? 0 : 0;
      const rows = await client.$queryRawUnsafe(
        `SELECT ${MESSAGE_COLUMNS} FROM agent_message WHERE ${more} ORDER BY sequence ${fromOldest ? "ASC" : "DESC"} LIMIT ? OFFSET ?`,
        ...moreArgs,
        take,
        skip
      );
      for (const row of rows) messages.push(messageOf(row));
      const last = rows.at(-1);
      if (!last || rows.length < take) break;
      more = `${where} AND sequence ${fromOldest ? ">" : "<"} ?`;
      moreArgs = [...args, last.sequence];
    }
    return fromOldest ? messages : messages.reverse();
  });
}
function conditionsOf2(chatId, query) {
  const where = ["chat_id = ?", "deleted_at IS NULL"];
  const args = [chatId];
  const add = (condition, value) => {
    if (value === void 0) return;
    where.push(condition);
    args.push(value);
  };
  add("request_id = ?", query.requestId);
  add("role = ?", query.role);
  add("block_id = ?", query.blockId);
  add("thread_id = ?", query.threadId);
  add("type = ?", query.type);
  add("sequence < ?", query.before);
  add("sequence > ?", query.after);
  return { where: where.join(" AND "), args };
}
async function getMessage(database, messageId) {
  const row = await database.read((client) => client.agentMessage.findUnique({ where: { messageId, deletedAt: null } }));
  return row && messageOf(row);
}
async function updateMessage(database, messageId, { props, metadata: metadata2, ...patch }, at2) {
  const data = {
    ...patch,
    props,
    metadata: jsonPatch(metadata2),
    updatedAt: at2
  };
  return messageOf(
    await database.write((client) => client.agentMessage.update({ where: { messageId, deletedAt: null }, data }))
  );
}
async function saveMessages(database, chatId, messages) {
  if (messages.length === 0) return;
  await database.transaction(async (sql2) => {
    const owner = await ownerIn(sql2, chatId);
    const byId = new Map(messages.map((message2) => [message2.messageId, { message: { ...message2, chatId }, owner }]));
    await upsertMessages.run(sql2, byId.values());
    const activity = { chatId, lastSequence: 0, messageAt: "", at: "" };
    for (const { sequence: sequence2, createdAt, updatedAt } of messages) {
      activity.lastSequence = Math.max(activity.lastSequence, sequence2);
      if (createdAt > activity.messageAt) activity.messageAt = createdAt;
      if (updatedAt > activity.at) activity.at = updatedAt;
    }
    await raiseActivity.run(sql2, [activity]);
  });
}
async function deleteMessages2(database, chatId, messageIds, at2) {
  if (messageIds.length === 0) return [];
  const rows = await database.write(
    (client) => client.$queryRawUnsafe(
      `UPDATE agent_message SET deleted_at = ? WHERE message_id IN (${textsOfParameter}) AND chat_id = ? AND deleted_at IS NULL RETURNING message_id AS "messageId"`,
      timeIn(at2),
      JSON.stringify(messageIds),
      chatId
    )
  );
  const deleted = new Set(rows.map(({ messageId }) => messageId));
  return [...new Set(messageIds)].filter((messageId) => deleted.has(messageId));
}

// server/adapters/prisma/serial-sqlite.ts
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import "@prisma/driver-adapter-utils";
var MAX_HOLD_MS = 4;
var SerialSqlite = class {
  constructor(options) {
    this.options = options;
  }
  options;
  provider = "sqlite";
  adapterName = "turnstream-serial-sqlite";
  #connection;
  /** Everyone gets the same connection. A failed attempt is not remembered: the next call tries again. */
  connect() {
    this.#connection ??= this.#open().catch((error) => {
      this.#connection = void 0;
      throw error;
    });
    return this.#connection;
  }
  /** Closes the connection, where there is one. */
  async close() {
    const connection = await this.#connection?.catch(() => void 0);
    await connection?.dispose();
  }
  async #open() {
    const { url, pragmas: pragmas2 } = this.options;
    const inner = await new PrismaBetterSqlite3({ url, timeout: 0 }).connect();
    try {
      for (const pragma of pragmas2) await inner.executeScript(`PRAGMA ${pragma}`);
    } catch (error) {
      await inner.dispose();
      throw error;
    }
    return new SerialConnection(inner, this.options);
  }
};
var SerialConnection = class {
  constructor(inner, options) {
    this.inner = inner;
    this.options = options;
  }
  inner;
  options;
  provider = "sqlite";
  adapterName = "turnstream-serial-sqlite";
  /** Settles when the last one in the row has had its turn. */
  #last = Promise.resolve();
  #heldSince;
  #disposed;
  queryRaw(query) {
    return this.#alone(() => this.#query(query));
  }
  executeRaw(query) {
    return this.#alone(() => this.#execute(query));
  }
  executeScript(script) {
    return this.#alone(() => this.#statement(script, () => this.inner.executeScript(script)));
  }
  /**
   * Runs `work` in one write transaction: committed when it resolves, rolled back when it rejects. Nothing else runs on
   * the connection meanwhile, and between two statements the event loop may turn.
   */
  transaction(work) {
    return this.#alone(async () => {
      await this.#begin();
      let result;
      try {
        result = await work({
          query: async (sql2, args = []) => rowsOf(await this.#query(statement(sql2, args))),
          run: (sql2, args = []) => this.#execute(statement(sql2, args))
        });
        await this.#control("COMMIT");
      } catch (error) {
        await this.#rollback();
        throw error;
      }
      return result;
    });
  }
  /** For the Prisma client's own transactions. With `usePhantomQuery` commit and rollback are ours to send. */
  async startTransaction() {
    const release = await this.#turn();
    try {
      await this.#begin();
    } catch (error) {
      release();
      throw error;
    }
    return {
      provider: this.provider,
      adapterName: this.adapterName,
      options: { usePhantomQuery: true },
      queryRaw: (query) => this.#query(query),
      executeRaw: (query) => this.#execute(query),
      commit: async () => {
        try {
          await this.#control("COMMIT");
        } catch (error) {
          await this.#rollback();
          throw error;
        } finally {
          release();
        }
      },
      rollback: async () => {
        await this.#rollback();
        release();
      }
    };
  }
  /** Closes the file once all that was asked for before has been done. */
  dispose() {
    this.#disposed ??= this.#turn().then(async (release) => {
      await this.inner.dispose();
      release();
    });
    return this.#disposed;
  }
  /** IMMEDIATE: a database that another process is writing to refuses here, not in the middle of the work. */
  #begin() {
    return this.#control("BEGIN IMMEDIATE");
  }
  async #rollback() {
    try {
      await this.#control("ROLLBACK");
    } catch {
    }
  }
  async #turn() {
    const before = this.#last;
    let release = () => {
    };
    this.#last = new Promise((resolve) => release = resolve);
    await before;
    return release;
  }
  async #alone(work) {
    const release = await this.#turn();
    try {
      return await work();
    } finally {
      release();
    }
  }
  #query(query) {
    return this.#statement(query.sql, () => this.inner.queryRaw(query));
  }
  #execute(query) {
    return this.#statement(query.sql, () => this.inner.executeRaw(query));
  }
  #control(sql2) {
    return this.#execute(statement(sql2, []));
  }
  async #statement(sql2, send) {
    const { clock, onStatement } = this.options;
    onStatement?.(sql2);
    const heldSince = this.#heldSince ??= this.#startHolding();
    try {
      return await send();
    } finally {
      if (clock.monotonic() - heldSince >= MAX_HOLD_MS) await nextTurn(clock);
    }
  }
  #startHolding() {
    const { clock } = this.options;
    clock.soon(() => this.#heldSince = void 0);
    return clock.monotonic();
  }
};
function statement(sql2, args) {
  return { sql: sql2, args: [...args], argTypes: args.map(argTypeOf) };
}
function argTypeOf(value) {
  const scalarType = typeof value === "number" ? "int" : typeof value === "boolean" ? "boolean" : "string";
  return { scalarType, arity: "scalar" };
}
function rowsOf({ columnNames, rows }) {
  return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
}

// server/adapters/prisma/steps.ts
async function saveSteps(database, steps) {
  if (steps.length === 0) return;
  await database.transaction(async (sql2) => {
    const owners = /* @__PURE__ */ new Map();
    for (const chatId of new Set(steps.map(({ step: step3 }) => step3.chatId))) owners.set(chatId, await ownerIn(sql2, chatId));
    const byId = /* @__PURE__ */ new Map();
    for (const record of steps) {
      const owner = owners.get(record.step.chatId);
      if (owner) byId.set(record.step.stepId, { record, owner });
    }
    await upsertSteps.run(sql2, byId.values());
  });
}
async function updateStep(database, stepId, patch, at2) {
  const { status, output, error, spaceSnapshot, metadata: metadata2 } = patch;
  const data = {
    status,
    output: jsonPatch(output),
    error: jsonPatch(error),
    spaceSnapshot: jsonPatch(spaceSnapshot),
    metadata: jsonPatch(metadata2),
    updatedAt: at2
  };
  const where = { stepId, deletedAt: null, ...status && status !== "completed" ? { status: { not: "completed" } } : {} };
  const [row] = await database.write((client) => client.agentStep.updateManyAndReturn({ where, data }));
  if (row) return stepOf(row);
  const unchanged = await database.read((client) => client.agentStep.findUnique({ where: { stepId, deletedAt: null } }));
  if (!unchanged) throw new ChatError("not_found");
  return stepOf(unchanged);
}
async function getSteps(database, requestId) {
  const rows = await database.read(
    (client) => client.agentStep.findMany({ where: { requestId, deletedAt: null }, orderBy: { sequence: "asc" } })
  );
  return rows.map(stepRecordOf);
}
async function getStepsByStack(database, stackId) {
  const rows = await database.read(
    (client) => client.agentStep.findMany({ where: { stackId, deletedAt: null }, orderBy: { sequence: "asc" } })
  );
  return rows.map(stepRecordOf);
}
var LAST_INCOMPLETE = `SELECT s.step_id AS "stepId" FROM agent_step s LEFT JOIN agent_turn t ON t.request_id = s.request_id WHERE s.chat_id = ? AND s.deleted_at IS NULL AND s.status IN ('pending', 'running', 'failed', 'interrupted') ORDER BY t.id DESC NULLS LAST, min(s.id) OVER (PARTITION BY s.request_id) DESC, s.stack_depth DESC, s.sequence DESC LIMIT 1`;
async function lastIncompleteStep(database, chatId) {
  const row = await database.read(async (client) => {
    const [found] = await client.$queryRawUnsafe(LAST_INCOMPLETE, chatId);
    return found ? client.agentStep.findUnique({ where: { stepId: found.stepId } }) : null;
  });
  return row && stepOf(row);
}
var MAX_HOPS = 256;
var CLIMB = `WITH RECURSIVE climb (stack_id, hops) AS (SELECT ?, 0 UNION ALL SELECT (SELECT s.stack_parent_id FROM agent_step s WHERE s.stack_id = climb.stack_id AND s.stack_parent_id IS NOT NULL AND s.deleted_at IS NULL ORDER BY s.id LIMIT 1), hops + 1 FROM climb WHERE climb.stack_id IS NOT NULL AND hops < ${MAX_HOPS}) SELECT stack_id AS "stackId" FROM climb WHERE stack_id IS NOT NULL ORDER BY hops`;
async function getStackPath(database, stackId) {
  const rows = await database.read((client) => client.$queryRawUnsafe(CLIMB, stackId));
  const path3 = /* @__PURE__ */ new Set();
  for (const row of rows) {
    if (path3.has(row.stackId)) break;
    path3.add(row.stackId);
  }
  return [...path3].reverse();
}

// server/adapters/prisma/turn-writes.ts
async function writeTurns(database, batch) {
  if (batch.length === 0) return;
  await database.transaction(async (sql2) => {
    for (const group of groupsOf(batch)) await writeGroup(sql2, group);
  });
}
function groupsOf(batch) {
  const groups = [];
  let seen = /* @__PURE__ */ new Set();
  let group;
  for (const write of batch) {
    const { requestId } = write.record.turn;
    if (!group || seen.has(requestId)) {
      groups.push(group = []);
      seen = /* @__PURE__ */ new Set();
    }
    group.push(write);
    seen.add(requestId);
  }
  return groups;
}
async function writeGroup(sql2, group) {
  const stored = await readStored(sql2, group);
  const changes = new Changes();
  for (const write of group) {
    const found = stored.get(write.record.turn.requestId);
    if (!found) throw new ChatError("internal");
    if (write.kind === "begin") addBegin(changes, write, found);
    else addEnd(changes, write, found);
  }
  await changes.run(sql2);
}
var READ_STORED = `SELECT rows.of_request, t.chat_id, t.created_by, t.fingerprint, t.attempt, t.status, c.chat_id AS chat, c.deleted_at, c.team_id, c.tenant_id FROM (${rowsOfParameter([["of_request", "text"], ["of_chat", "text"]])}) AS rows LEFT JOIN agent_turn t ON t.request_id = rows.of_request LEFT JOIN agent_chat c ON c.chat_id = rows.of_chat`;
async function readStored(sql2, group) {
  const keys = group.map(({ record: { turn: turn3 } }) => [turn3.requestId, turn3.chatId]);
  const rows = await sql2.query(READ_STORED, [JSON.stringify(keys)]);
  return new Map(
    rows.map((row) => [
      row.of_request,
      {
        turn: row.chat_id === null ? null : {
          chatId: row.chat_id,
          createdBy: row.created_by,
          fingerprint: row.fingerprint,
          attempt: row.attempt,
          status: row.status
        },
        chat: row.chat === null ? null : { deleted: row.deleted_at !== null, teamId: row.team_id, tenantId: row.tenant_id }
      }
    ])
  );
}
function isSame({ record: { turn: turn3, fingerprint } }, stored) {
  return stored.chatId === turn3.chatId && stored.createdBy === turn3.createdBy && stored.fingerprint === fingerprint;
}
function addBegin(changes, write, stored) {
  const { turn: turn3 } = write.record;
  const details = { requestId: turn3.requestId };
  if (stored.turn && !isSame(write, stored.turn)) {
    throw new ChatError("conflict", "This requestId is taken.", { details });
  }
  if (stored.chat?.deleted) throw new ChatError(write.newChat && !stored.turn ? "conflict" : "not_found", void 0, { details });
  if (stored.turn && stored.turn.attempt >= turn3.attempt) return;
  if (write.newChat && !stored.turn) {
    if (stored.chat || changes.chats.has(turn3.chatId)) throw new ChatError("conflict", "This chatId is taken.", { details });
    changes.chats.set(turn3.chatId, write.newChat);
  }
  const chat3 = changes.chats.get(turn3.chatId) ?? stored.chat;
  if (!chat3) throw new ChatError("not_found", void 0, { details });
  changes.add(write, chat3);
}
function addEnd(changes, write, stored) {
  const { turn: turn3 } = write.record;
  if (stored.turn && !isSame(write, stored.turn)) {
    throw new ChatError("conflict", "This requestId is taken.", { details: { requestId: turn3.requestId } });
  }
  if (stored.turn && stored.turn.attempt > turn3.attempt) return;
  if (stored.turn && stored.turn.attempt === turn3.attempt && isEnded(stored.turn.status)) return;
  const chat3 = changes.chats.get(turn3.chatId) ?? stored.chat;
  if (!chat3 || "deleted" in chat3 && chat3.deleted) return;
  changes.add(write, chat3);
}
var Changes = class {
  chats = /* @__PURE__ */ new Map();
  #turns = [];
  #messages = /* @__PURE__ */ new Map();
  #deletions = [];
  #steps = /* @__PURE__ */ new Map();
  #activity = /* @__PURE__ */ new Map();
  add(write, { teamId, tenantId }) {
    const { record, messages, at: at2 } = write;
    const { chatId, createdBy } = record.turn;
    const owner = { createdBy, teamId, tenantId };
    this.#turns.push({ record, at: at2, owner });
    for (const message2 of messages) this.#messages.set(message2.messageId, { message: message2, owner });
    if (write.kind === "end") {
      for (const messageId of write.deletedMessageIds) this.#deletions.push({ messageId, chatId, at: at2 });
      for (const record2 of write.steps) this.#steps.set(record2.step.stepId, { record: record2, owner });
    }
    this.#raise({
      chatId,
      lastSequence: messages.reduce((highest, { sequence: sequence2 }) => Math.max(highest, sequence2), write.kind === "end" ? write.lastSequence : 0),
      messageAt: newest(messages.map(({ createdAt }) => createdAt)),
      at: at2
    });
  }
  #raise(activity) {
    const before = this.#activity.get(activity.chatId) ?? activity;
    this.#activity.set(activity.chatId, {
      chatId: activity.chatId,
      lastSequence: Math.max(before.lastSequence, activity.lastSequence),
      messageAt: newest([before.messageAt, activity.messageAt]),
      at: newest([before.at, activity.at]) ?? activity.at
    });
  }
  async run(sql2) {
    await insertChats.run(sql2, this.chats.values());
    await upsertTurns.run(sql2, this.#turns);
    await upsertMessages.run(sql2, this.#messages.values());
    await deleteMessages.run(sql2, this.#deletions);
    await upsertSteps.run(sql2, this.#steps.values());
    await raiseActivity.run(sql2, this.#activity.values());
  }
};
function newest(times) {
  return times.reduce((latest, time3) => time3 !== null && (latest === null || time3 > latest) ? time3 : latest, null);
}

// server/adapters/prisma/turns.ts
async function getTurn(database, requestId) {
  const row = await database.read((client) => client.agentTurn.findUnique({ where: { requestId, deletedAt: null } }));
  return row && turnRecordOf(row);
}
async function getTurns(database, requestIds) {
  if (requestIds.length === 0) return [];
  const rows = await database.read(
    (client) => client.agentTurn.findMany({ where: { requestId: { in: [...requestIds] }, deletedAt: null } })
  );
  return rows.map(turnRecordOf);
}
async function listTurns(database, chatId, query) {
  const { before, limit: limit2, incomplete } = query;
  return database.read(async (client) => {
    let bound;
    if (before !== void 0) {
      const row = await client.agentTurn.findUnique({ where: { requestId: before, chatId }, select: { id: true } });
      if (!row) return [];
      bound = { id: { lt: row.id } };
    }
    const rows = await client.agentTurn.findMany({
      where: {
        chatId,
        deletedAt: null,
        ...bound,
        ...incomplete ? { status: { in: ["interrupted", "failed"] } } : {}
      },
      orderBy: { id: "desc" },
      take: limit2
    });
    return rows.map(turnRecordOf);
  });
}
async function queuedTurns(database) {
  const rows = await database.read(
    (client) => client.agentTurn.findMany({ where: { status: "queued", deletedAt: null }, orderBy: { id: "asc" } })
  );
  return rows.map(turnRecordOf);
}
async function isRequestIdTaken(database, requestId) {
  const row = await database.read(
    (client) => client.agentTurn.findUnique({ where: { requestId }, select: { id: true } })
  );
  return row !== null;
}

// server/adapters/prisma/prisma-store.ts
var PrismaStore = class {
  #database;
  constructor({ url, clock, onTransaction = () => {
  }, onStatement, synchronous = "NORMAL" }) {
    const connection = new SerialSqlite({ url, clock, pragmas: pragmas(synchronous), onStatement });
    this.#database = new Database2(connection, onTransaction);
  }
  createChat(chat3) {
    return createChat(this.#database, chat3);
  }
  getChat(chatId) {
    return getChat(this.#database, chatId);
  }
  isChatIdTaken(chatId) {
    return isChatIdTaken(this.#database, chatId);
  }
  updateChat(chatId, patch, at2) {
    return updateChat(this.#database, chatId, patch, at2);
  }
  deleteChat(chatId, at2) {
    return deleteChat(this.#database, chatId, at2);
  }
  listChats(filter) {
    return listChats(this.#database, filter);
  }
  nextSequence(chatId) {
    return nextSequence(this.#database, chatId);
  }
  saveMessages(chatId, list) {
    return saveMessages(this.#database, chatId, list);
  }
  getMessages(chatId, query) {
    return getMessages(this.#database, chatId, query);
  }
  getMessage(messageId) {
    return getMessage(this.#database, messageId);
  }
  updateMessage(messageId, patch, at2) {
    return updateMessage(this.#database, messageId, patch, at2);
  }
  deleteMessages(chatId, messageIds, at2) {
    return deleteMessages2(this.#database, chatId, messageIds, at2);
  }
  getTurn(requestId) {
    return getTurn(this.#database, requestId);
  }
  getTurns(requestIds) {
    return getTurns(this.#database, requestIds);
  }
  listTurns(chatId, query) {
    return listTurns(this.#database, chatId, query);
  }
  queuedTurns() {
    return queuedTurns(this.#database);
  }
  isRequestIdTaken(requestId) {
    return isRequestIdTaken(this.#database, requestId);
  }
  saveSteps(list) {
    return saveSteps(this.#database, list);
  }
  updateStep(stepId, patch, at2) {
    return updateStep(this.#database, stepId, patch, at2);
  }
  getSteps(requestId) {
    return getSteps(this.#database, requestId);
  }
  lastIncompleteStep(chatId) {
    return lastIncompleteStep(this.#database, chatId);
  }
  getStepsByStack(stackId) {
    return getStepsByStack(this.#database, stackId);
  }
  getStackPath(stackId) {
    return getStackPath(this.#database, stackId);
  }
  write(batch) {
    return writeTurns(this.#database, batch);
  }
  async ping() {
    await this.#database.read((client) => client.agentChat.findFirst({ select: { id: true } }));
  }
  close() {
    return this.#database.close();
  }
};

// server/adapters/prisma/open.ts
async function openPrismaStore(options) {
  await mkdir(dirname2(options.url.replace(/^file:/, "")), { recursive: true });
  const applied = await migrate(options);
  if (applied.length > 0) options.onMigrated?.(applied);
  const store2 = new PrismaStore(options);
  await store2.ping();
  return store2;
}

// server/id-source.ts
import { randomBytes } from "node:crypto";
import { v7 } from "uuid";
var systemIds = {
  id: () => v7(),
  epoch: () => randomBytes(9).toString("base64url"),
  fraction: () => Math.random()
};

// .b5.ts
var dir = mkdtempSync(tmpdir() + "/ts-");
var store = await openPrismaStore({ url: `file:${dir}/t.db`, clock: systemClock, ids: systemIds, onMigrated: (n) => console.log("migrated", n) });
var at = "2026-01-01T00:00:00.000Z";
var id2 = () => systemIds.id();
var chat2 = (chatId) => ({ chatId, title: "\u0427\u0435\u0440\u0432\u043E\u043D\u0438\u0439", assistantId: "a", mode: "chat", status: "active", preset: false, public: false, share: "private", sort: 0, lastMessageAt: null, metadata: null, createdBy: "u", teamId: null, tenantId: null, createdAt: at, updatedAt: at });
var turn2 = (requestId, chatId, status = "queued") => ({ requestId, chatId, assistantId: "a", status, background: false, attempt: 1, stopReason: null, error: null, usage: null, metadata: null, createdBy: "u", createdAt: at, startedAt: null, endedAt: null });
var rec = (t) => ({ turn: t, fingerprint: "f", rootStackId: "s", regenerates: null, openedBy: null });
var msg = (chatId, requestId, sequence2) => ({ messageId: id2(), chatId, requestId, role: "assistant", type: "text", props: { content: "x".repeat(380), k: [1, { a: null }] }, blockId: null, threadId: null, stepId: null, assistantId: "a", sequence: sequence2, state: "closed", metadata: null, createdAt: at, updatedAt: at });
var step2 = (chatId, requestId, sequence2) => ({ beginOrder: sequence2, step: stp(chatId, requestId, sequence2) });
var stp = (chatId, requestId, sequence2) => ({ stepId: id2(), chatId, requestId, assistantId: "a", stackId: "s", stackParentId: null, stackDepth: 0, type: "llm", status: "completed", input: { messages: ["y".repeat(300)] }, output: { content: "z".repeat(300) }, spaceSnapshot: {}, error: null, sequence: sequence2, metadata: null, createdAt: at, updatedAt: at });
var time2 = async (n, f, per = 1) => {
  const h = monitorEventLoopDelay({ resolution: 1 });
  h.enable();
  await new Promise((r) => setTimeout(r, 20));
  h.reset();
  const c = process.cpuUsage();
  const t = performance.now();
  await f();
  const d = performance.now() - t;
  const u = process.cpuUsage(c);
  await new Promise((r) => setTimeout(r, 20));
  console.log(n.padEnd(36), (d / per).toFixed(3), "ms each; cpu us each", ((u.user + u.system) / per).toFixed(0), "; max delay", (h.max / 1e6).toFixed(1));
};
await store.createChat(chat2("c1"));
for (let rep = 0; rep < 3; rep++) {
  await time2("small turn (2 tx: 1 msg; 6 msgs 5 steps)", async () => {
    for (let i = 0; i < 500; i++) {
      const c = "k" + rep + "-" + i, rq = id2();
      await store.write([{ kind: "begin", record: rec(turn2(rq, c)), messages: [{ ...msg(c, rq, 1), role: "user" }], newChat: chat2(c), at }]);
      await store.write([{ kind: "end", record: rec(turn2(rq, c, "completed")), messages: Array.from({ length: 6 }, (_, k) => msg(c, rq, k + 2)), deletedMessageIds: [], steps: Array.from({ length: 5 }, (_, k) => step2(c, rq, k + 1)), lastSequence: 7, at }]);
    }
  }, 500);
}
await store.close();
