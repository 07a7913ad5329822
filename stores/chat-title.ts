import { splitHalf, wellFormed } from '../protocol/index.js';

const TITLE_LENGTH = 500;

/** A framework's name as the title of its chat: as much of it as a title holds, cut between characters, not within one. */
export const titleOf = (name: string): string => splitHalf(wellFormed(name).slice(0, TITLE_LENGTH)).head;
