import type { BodyKind } from './parse-body.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the body of the route is; absent: any JSON. */
    readonly body?: BodyKind;
  }
}

export const mediaTypes = {
  json: 'application/json',
  texts: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const satisfies Readonly<Record<BodyKind, string>>;
