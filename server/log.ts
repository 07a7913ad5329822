import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * Structured lines: ids and codes, never what people or assistants say (that is at most debug). `audit` says who did what
 * (docs/decisions/0064): a level of its own, which no LOG_LEVEL but `silent` leaves out.
 */
export type Log = Logger<'audit'>;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Above `fatal`, which is 60. */
const AUDIT_LEVEL = 70;

export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, customLevels: { audit: AUDIT_LEVEL } };
  return destination ? pino<'audit'>(options, destination) : pino<'audit'>(options);
}
