import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { AppError } from '#kernel/errors/app-error.ts';
import { type CommandLine, parseCommandLine } from './cli.ts';
import { exitCodes } from './commands/exit-codes.ts';
import { report } from './commands/report-error.ts';
import { type Config, loadConfig, processEnvironment } from './config/config.ts';
import {
  allFailpoints,
  armFailpoint,
  armSeam,
  killProcess,
  sayFailpoint,
  seams,
} from './kernel/process/failpoint.ts';
import { createLifecycle, type Lifecycle, type StopReason } from './kernel/process/lifecycle.ts';
import { createHealth } from './kernel/reports/health.ts';
import { createLogger, type Logger } from './kernel/reports/logger.ts';
import { terminalLines } from './kernel/text/terminal-text.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Maximum time between two signals that count as one, in ms. npm repeats a Ctrl-C that the terminal has already sent. A
 * person who wants to stop at once presses again later.
 */
const sameSignalMs = 400;

/** How long a command may take to return after all parts have stopped, in ms. */
const unnoticedMs = 2000;

/** Runs the command of the command line, and ends the process with its exit code. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  let line: CommandLine;
  let config: Config;
  // ignore the event, because a failed write also rejects its promise
  process.stdout.on('error', () => undefined);
  try {
    line = parseCommandLine(words);
    if (line.kind === 'help') {
      await print(line.text);
      return;
    }
    const env = processEnvironment();
    const { command, flags, settings } = line;
    const prepared = command.prepare?.({ flags, settings, env }) ?? { settings, defaults: {} };
    config = loadConfig({ env, flags: prepared.settings, defaults: prepared.defaults });
  } catch (error) {
    process.exitCode = report(error);
    return;
  }
  armForTest(config.failpoint);
  const lifecycle = createLifecycle();
  const logger = createLogger(config.logLevel, config.logFormat);
  listenForTheEnd(lifecycle, logger);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // any other error rejects the promise of its write
    if (error.code === 'EPIPE') void end(lifecycle, logger, 'done', exitCodes.outputClosed);
  });
  try {
    const { flags, words: operands } = line;
    await line.command.run({
      config,
      flags,
      words: operands,
      lifecycle,
      health: createHealth(),
      logger,
      print,
    });
    // a service that was told to stop has succeeded
    await end(lifecycle, logger, lifecycle.reason ?? 'done', exitCodes.ok);
  } catch (error) {
    if (lifecycle.signal.aborted) await end(lifecycle, logger, 'done', interrupted(lifecycle.reason));
    else await end(lifecycle, logger, 'error', report(error));
  }
}

/**
 * Arms a failpoint for tests. The setting was validated with all other settings. Its forms are:
 * - `NAME:N`: this process kills itself when it passes this point for the Nth time.
 * - `NAME:N:overlapped`: a batch waits at this point until the next batch is decided. Then the process kills itself.
 * - `NAME:N:held`: a batch waits at this point for SIGCONT, and then continues.
 */
function armForTest(setting: string | undefined): void {
  const [name, passes, how] = setting?.split(':') ?? [];
  const point = allFailpoints.find((known) => known === name);
  const seam = seams.find((known) => known === name);
  if (how !== undefined && seam !== undefined) {
    armSeam(seam, Number(passes), async (batches) => {
      sayFailpoint(seam, batches);
      if (how === 'overlapped') killProcess();
      await once(process, 'SIGCONT');
    });
  } else if (point !== undefined) {
    armFailpoint(point, Number(passes));
  }
}

function listenForTheEnd(lifecycle: Lifecycle, logger: Logger): void {
  let firstAt: number | null = null;
  for (const signal of signals) {
    process.on(signal, () => {
      if (firstAt === null) {
        firstAt = performance.now();
        logger.info({ signal }, 'ending; a second signal ends at once');
        // the process exits even if the command does not react to the end of the lifecycle
        void lifecycle
          .stop(signal)
          .then(() => setTimeout(() => process.exit(exitCodes[signal]), unnoticedMs));
      } else if (performance.now() - firstAt > sameSignalMs) {
        process.exit(exitCodes[signal]);
      }
    });
  }
  // after an uncaught error, stop all parts, then exit with 1
  closeWithGrace({ delay: false, logger: false, skip: [...signals, 'beforeExit'] }, async ({ err }) => {
    if (err === undefined) return;
    report(err);
    await lifecycle.stop('error');
  });
}

let ending = false;

async function end(
  lifecycle: Lifecycle,
  logger: Logger,
  reason: StopReason,
  exitCode: number,
): Promise<void> {
  if (ending) return;
  ending = true;
  const { late, failed } = await lifecycle.stop(reason);
  for (const part of late) logger.error({ part }, 'did not end in time and is abandoned');
  for (const { part, error } of failed) logger.error({ part, err: error }, 'failed while ending');
  const clean = late.length === 0 && failed.length === 0;
  process.exit(exitCode === exitCodes.ok && !clean ? exitCodes.failure : exitCode);
}

function interrupted(reason: StopReason | null): number {
  return reason === 'SIGINT' || reason === 'SIGTERM' || reason === 'SIGHUP'
    ? exitCodes[reason]
    : exitCodes.failure;
}

/**
 * Prints text. Texts of strangers are printed here too, so control characters are escaped. They must not control the
 * terminal.
 */
function print(text: string, how?: 'exact'): Promise<void> {
  const shown = how === 'exact' ? text : terminalLines(text);
  return new Promise((resolve, reject) => {
    process.stdout.write(shown, (error: NodeJS.ErrnoException | null | undefined) => {
      // EPIPE means that the output was closed; the 'error' event then ends the process
      if (error === null || error === undefined || error.code === 'EPIPE') resolve();
      else reject(new AppError('output_failed', `stdout: ${error.message}`, {}, error));
    });
  });
}
