import type { AppError } from './app-error.ts';
import type { ErrorCode } from './error-codes.ts';

const awayCodes: readonly ErrorCode[] = ['node_unreachable', 'node_warming_up', 'node_cookie_missing'];

/** Whether a failure means that the node is stopped, starting or unreachable. */
export const isNodeAway = (code: ErrorCode): boolean => awayCodes.includes(code);

/**
 * The level at which a part of the program logs a failure that it retries. An outage of the node affects all parts that
 * need the node. The connection to the node logs the outage once; all other parts log it only for debugging.
 */
export const levelOfFailure = ({ code }: AppError): 'debug' | 'warn' => (isNodeAway(code) ? 'debug' : 'warn');
