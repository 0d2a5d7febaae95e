/* oxlint-disable node/no-process-env -- variables of the C library, and nothing else is loaded yet */

/**
 * V8's bound of the space for new objects. Without it the space doubles while many of its objects survive, as during a
 * start or a large order, up to 134 MB, and never gives them back while it is in use. 16 stands for 32 MB: both halves.
 * A first sync takes 2 % more processor time of Node with it.
 */
const newSpace = '--max-semi-space-size';
const newSpaceMegabytes = 16;

/**
 * Settings of glibc's malloc, which it reads only at the start of a process. By default, each thread has an arena of its
 * own, whose free memory no other thread can use. Blocks of up to 32 MB may stay with the process when they are
 * freed.
 */
const mallocSettings = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: String(256 * 1024) };

/**
 * Replaces this process by one whose memory is bounded (execve, same process id). Returns in the new process, or if the
 * process cannot be replaced: on Windows, with Node's permission model, or with a channel to a parent (fork), which the
 * new process would not have. Then the defaults apply. A bound that the operator has set remains. Call this before
 * anything else is loaded, because a second start of Node costs 35 ms.
 */
export function restartWithMemoryBounds(): void {
  if (hasNewSpaceBound()) {
    forgetMallocSettings();
    return;
  }
  if (process.channel !== undefined && process.channel !== null) return;
  const words = [...process.execArgv, `${newSpace}=${newSpaceMegabytes}`, ...process.argv.slice(1)];
  try {
    process.execve?.(process.execPath, [process.execPath, ...words], { ...mallocSettings, ...process.env });
  } catch {
    // this system cannot replace a process
  }
}

function hasNewSpaceBound(): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((words) => words.includes(newSpace));
}

/** Removes the settings from the environment of child processes: Postgres often takes and frees large blocks. */
function forgetMallocSettings(): void {
  for (const [name, value] of Object.entries(mallocSettings)) {
    if (process.env[name] === value) delete process.env[name];
  }
}
