import swaggerUi from '@fastify/swagger-ui';
import { Type } from 'typebox';
import { type Answer, jsonText } from '#http/server/answer-schemas.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App } from '#http/server/app-dependencies.ts';
import { open } from '#http/server/guard.ts';

const prefix = '/docs';

/**
 * The reference runs only the scripts of its own folder: inscribed content is on this server too (`/content/…`), and
 * a policy can tell them apart only by path. "Try it" requests any of our paths, and shows the answer as text.
 */
const policies = [
  [
    "default-src 'none'",
    "script-src 'self'",
    // the reference sets styles on its elements
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ],
  [
    `script-src *:*${prefix}/static/`,
    `style-src *:*${prefix}/static/ 'unsafe-inline'`,
    `img-src *:*${prefix}/static/ data:`,
  ],
].map((directives) => directives.join('; '));

const config = { errors: 'plain', guard: open } as const;
const tags = ['reference'] as const;
const documentSchema = Type.Object({ openapi: Type.Literal('3.1.0') });
const yamlAnswer: Answer = {
  description: 'the document',
  content: { 'application/yaml': { schema: documentSchema } },
};

/**
 * `/openapi.json`, `/openapi.yaml`, and `/docs`: the reference of all paths, with "try it". Call it after
 * `describeRoutes`.
 */
export function referenceRoutes(app: App): void {
  apiRoute(app, {
    method: 'GET',
    url: '/openapi.json',
    schema: {
      operationId: 'openapiJson',
      summary: 'This document as JSON',
      tags,
      response: { 200: jsonText(documentSchema, 'the document') },
    },
    config,
    handler: async (_request, reply) =>
      reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(documentOf(app)),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/openapi.yaml',
    schema: {
      operationId: 'openapiYaml',
      summary: 'This document as YAML',
      tags,
      response: { 200: yamlAnswer },
    },
    config,
    handler: async (_request, reply) =>
      reply
        .header('cache-control', 'no-cache')
        .type('application/yaml; charset=utf-8')
        .send(app.swagger({ yaml: true })),
  });
  app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', policies).header('cross-origin-opener-policy', 'same-origin');
    });
    await scope.register(swaggerUi, {
      routePrefix: prefix,
      uiConfig: {
        deepLinking: true,
        docExpansion: 'none',
        tagsSorter: undefined,
        displayRequestDuration: true,
      },
      theme: { title: 'Satscribe API' },
    });
  });
}

/** The document as text, with the same bytes as docs/openapi.json. */
export function documentOf(app: App): string {
  return `${JSON.stringify(app.swagger(), null, 1)}\n`;
}
