import { AppError } from '#kernel/errors/app-error.ts';

/** The node's error code if it refuses to start a scan. The node also uses this code for other errors. */
const invalidParameter = -8;

/** Converts the error of a scan of unspent outputs. It becomes `node_scan_busy` if the node runs another scan. */
export function scanFailure(error: unknown): unknown {
  const isBusy =
    error instanceof AppError &&
    error.details['rpcCode'] === invalidParameter &&
    /scan already in progress/iu.test(error.message);
  if (!isBusy) return error;
  return new AppError(
    'node_scan_busy',
    'The node already scans its unspent outputs, for an interrupted command or for another program. It runs only one scan at a time, so try again in a minute.',
  );
}
