// `turnstream/protocol`: what a program needs that speaks the protocol by itself. Its tables and shapes (zod schemas, and the
// types that they read), its errors, and the fold that makes a view of events. Nothing else here is a promise to others.

export {
  AGENT_NAMESPACE,
  agentCommands,
  assignment,
  frameEnd,
  resumeStep,
  turnAbort,
  type AgentArgs,
  type AgentArgsInput,
  type AgentCommandName,
  type AgentCommands,
  type AgentResult,
  type Assignment,
  type FrameEnd,
  type ResumeStep,
  type TurnAbort,
} from './agent-commands.js';
export { chat, type Chat, type ChatPatch } from './chat.js';
export { ackOf, type Ack, type AgentRight, type CommandSpec, type HttpBinding, type Right } from './command.js';
export {
  commands,
  type Args,
  type ArgsInput,
  type ChatCommandName,
  type ChatCommands,
  type CommandName,
  type Commands,
  type OnBusy,
  type Result,
  type SubscribeResult,
} from './commands.js';
export {
  GOAWAY_CODES,
  goaway,
  hello,
  PROTOCOL_VERSION,
  user,
  type Goaway,
  type GoawayCode,
  type Hello,
  type User,
  type UserRole,
} from './connection.js';
export {
  ChatError,
  ERROR_CODES,
  errorBody,
  ERRORS,
  type ChatErrorOptions,
  type ErrorBody,
  type ErrorCode,
} from './error.js';
export { chatEvent, type ChatEvent, type ChatEventType, type MessageChange } from './event.js';
export { foldChat, foldMessage, FoldFault, type ChatView } from './fold.js';
export type { Json, JsonObject } from './json.js';
export { DEFAULT_LIMITS, limits, type Limits } from './limits.js';
export {
  inputMessage,
  message,
  savedMessage,
  type InputMessage,
  type Message,
  type Role,
  type SavedMessage,
} from './message.js';
export { op, type Op, type OpInput } from './op.js';
export { parsePosition, position, positionText, type Position } from './position.js';
export {
  presence,
  presentUser,
  signal,
  unsubscribed,
  type Presence,
  type PresentUser,
  type Signal,
  type Unsubscribed,
} from './presence.js';
export { viewOf } from './snapshot-view.js';
export {
  savedStep,
  step,
  stepSummary,
  type SavedStep,
  type Step,
  type StepStatus,
  type StepSummary,
  type StepType,
} from './step.js';
export {
  isEnded,
  isResumable,
  STOP_REASONS,
  turn,
  type StopReason,
  type Turn,
  type TurnError,
  type TurnStatus,
} from './turn.js';
