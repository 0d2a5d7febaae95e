import type { FastifyRequest } from 'fastify';

/**
 * The length that a request announces for its body, in bytes. 0 if it announces no length; then the bytes of the chunks
 * are counted.
 */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0);

/** Whether a body follows the head of a request. Its length may be known, or it may come in chunks. */
export const announcesBody = (request: FastifyRequest): boolean =>
  request.headers['transfer-encoding'] !== undefined || announcedBytes(request) !== 0;
