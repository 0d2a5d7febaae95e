/** Exit codes. docs/configuration.md, "Exit codes". */
export const exitCodes = {
  /** Done, or a service that was asked to end. */
  ok: 0,
  /** An operating failure: the code and what to do are on stderr. */
  failure: 1,
  /** Wrong usage: an unknown command or flag, or an invalid setting. */
  usage: 2,
  /** The reader of the output has closed it (as by SIGPIPE). */
  outputClosed: 141,
  /** A command that would have ended by itself was interrupted: 128 + the number of the signal. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;
