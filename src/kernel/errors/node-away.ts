import type { AppError } from './app-error.ts';
import type { ErrorCode } from './error-codes.ts';

const awayCodes: readonly ErrorCode[] = ['node_unreachable', 'node_warming_up', 'node_cookie_missing'];

/** Whether a failure means that the node is stopped, starting or out of reach. */
export const isNodeAway = (code: ErrorCode): boolean => awayCodes.includes(code);

/**
 * The level at which a part logs a failure that it retries. An outage of the node affects all parts that need the node.
 * The link to the node logs the outage once; all other parts log it for debugging only.
 */
export const levelOfFailure = ({ code }: AppError): 'debug' | 'warn' => (isNodeAway(code) ? 'debug' : 'warn');
