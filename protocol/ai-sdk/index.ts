export { askTurn } from './ask-turn.js';
export { AnswerStream } from './answer-stream.js';
export { CURRENT_MAJOR, isTerminator, UI_MAJORS, type UiChunk, type UiMajor } from './chunk.js';
export { FollowedAnswer, type AnswerPage } from './followed-answer.js';
export { historyOf } from './history.js';
export { turnToFollow } from './turn-to-follow.js';
export { uiMessagesOf, type UiMessage } from './ui-message.js';
export { turnOfAnswer } from './ui-metadata.js';
export { readUiRequest } from './ui-request.js';
