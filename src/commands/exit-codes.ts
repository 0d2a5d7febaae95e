/** Exit codes. docs/configuration.md, "Exit codes". */
export const exitCodes = {
  /** The command is done, or a service was told to stop. */
  ok: 0,
  /** An operating failure. Its error code, and what to do, are on stderr. */
  failure: 1,
  /** Wrong usage: an unknown command or flag, or an invalid setting. */
  usage: 2,
  /** The reader of the output has closed it. The code equals that of SIGPIPE. */
  outputClosed: 141,
  /** A signal interrupted a command that would have ended by itself. The code is 128 + the number of the signal. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** Ends a command that has printed its result, with an exit code of its own and without a message. */
export class EndWith extends Error {
  override readonly name = 'EndWith';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}
