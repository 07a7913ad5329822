#!/usr/bin/env node
import { runCli } from './cli.js';

// The clock's timers keep no process alive, and a command that waits for one is not over.
const alive = setInterval(() => undefined, 60_000);
process.exitCode = await runCli(process.argv.slice(2));
clearInterval(alive);
