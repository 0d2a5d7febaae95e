import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#kernel/errors/app-error.ts';
import { limits } from '../limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers under any load. True for paths about health and for the operators' paths. */
    readonly answersUnderPressure?: boolean;
  }
}

/**
 * Limits in ms. Requests are refused if the mean delay is above `eventLoopDelayMs`; the mean is taken over
 * `eventLoopSampleMs`.
 */
export type EventLoopLimits = Readonly<Record<'eventLoopDelayMs' | 'eventLoopSampleMs', number>>;

/**
 * Refuses requests with 503 `overloaded`, in the form of the route, while the event loop is so late that each request
 * would wait for seconds. Call this after CORS, so that pages of other origins can read the refusal, and before the
 * routes are added.
 */
export function refuseUnderPressure(
  app: FastifyInstance,
  { eventLoopDelayMs, eventLoopSampleMs }: EventLoopLimits = limits,
): void {
  app.register(underPressure, {
    maxEventLoopDelay: eventLoopDelayMs,
    sampleInterval: eventLoopSampleMs,
    pressureHandler: (request) => {
      if (request.routeOptions.config.answersUnderPressure === true) return;
      throw new AppError('overloaded', 'there are too many requests at once; try again in a few seconds');
    },
  });
}
