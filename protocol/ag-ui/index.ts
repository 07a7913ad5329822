export * from './event.js';
export * from './history.js';
export * from './join.js';
export * from './message.js';
export * from './news.js';
export * from './run.js';
export * from './run-input.js';
