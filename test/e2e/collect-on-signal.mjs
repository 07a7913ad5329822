// For servers whose memory is measured (malformed-siege.ts): SIGUSR2 collects what nothing holds, so that what is left is held.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
