import { type ChildProcess, spawn } from 'node:child_process';

export interface CliResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command and its output so far. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  /** The command's stderr so far. */
  stderr(this: void): string;
  /** Settles with the match once stdout has it. Rejects if the process ends earlier. */
  seen(this: void, pattern: RegExp): Promise<RegExpExecArray>;
}

/** The environment of our processes. It has no settings of the machine, except the cache of vitest.config.ts. */
export function machineEnvironment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  };
}

/**
 * Starts `satscribe` with these arguments in a separate process. The process gets no settings of the machine. Searches
 * are open, because most tests need that.
 */
export function startCli(words: readonly string[], env: Record<string, string> = {}): CliProcess {
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    env: { ...machineEnvironment(), SEARCH_ACCESS: 'open', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const watch of watchers) watch();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
  const seen = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(stdout);
        if (match === null) return;
        watchers.delete(look);
        resolve(match);
      };
      watchers.add(look);
      look();
      ended.then(
        () => reject(new Error(`ended without ${String(pattern)}:\n${stdout}\n${stderr}`)),
        (error: unknown) => reject(error as Error),
      );
    });
  return { child, ended, seen, stderr: () => stderr };
}

/** Runs `satscribe` to its end. */
export function runCli(words: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  return startCli(words, env).ended;
}
