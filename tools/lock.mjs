// A lock between processes: a file that holds the id of the process that made it.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;

function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Takes the lock if it is free. The file appears with its content or not at all, so nobody reads an empty one. */
function take(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the lock of a process that died. Of two that try, one moves the file away; what it moved must be the dead one's. */
function clear(file, dead) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (ownerOf(aside) !== dead) linkSync(aside, file);
  } catch {
    // Another process was quicker.
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Runs `work` while holding the lock `file`; waits for a living owner, and says so once. */
export async function withLock(file, say, work) {
  let told = false;
  while (!take(file)) {
    const owner = ownerOf(file);
    if (owner === undefined) continue;
    if (!isAlive(owner)) {
      clear(file, owner);
      continue;
    }
    if (!told) say(`waiting for process ${owner}, which is preparing this folder`);
    told = true;
    await sleep(POLL_MS);
  }
  const release = () => {
    if (ownerOf(file) === process.pid) rmSync(file, { force: true });
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}
