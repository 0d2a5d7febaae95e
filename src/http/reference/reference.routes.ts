import { setTimeout as pause } from 'node:timers/promises';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import { textTag } from '#http/server/answers/send-page.ts';
import { type Answer, jsonText, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { assetText } from '#web/assets.ts';

const prefix = '/docs';

/**
 * Content policies of the reference. Only scripts from the reference's own folder may run, because this server also has
 * inscribed content (`/content/…`), and a policy can tell them apart only by path. "Try it" can request all paths of
 * this server, and shows the answer as text.
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

const icon = assetText('icon.svg');

/**
 * A script that adds a viewport to the package's page. Without a viewport, a phone would show the page in desktop
 * width.
 */
const viewport = `const viewport = document.createElement('meta');
viewport.name = 'viewport';
viewport.content = 'width=device-width, initial-scale=1';
document.head.append(viewport);
`;

// routes do not change while the process runs, so one compression is enough
const config = { errors: 'plain', guard: open, compression: 'once' } as const;
const tags = ['reference'] as const;
const documentSchema = Type.Object({ openapi: Type.Literal('3.1.0') });
const yamlAnswer: Answer = {
  description: 'the document',
  content: { 'application/yaml': { schema: documentSchema } },
};

/**
 * Routes of `/openapi.json`, `/openapi.yaml` and `/docs`. `/docs` is the reference of all paths, with "try it". Call
 * this after `describeRoutes`.
 */
export function referenceRoutes(app: App): void {
  // each text is made once, because routes do not change while the process runs
  let json: TaggedText | undefined;
  let yaml: TaggedText | undefined;
  apiRoute(app, {
    method: 'GET',
    url: '/openapi.json',
    schema: {
      operationId: 'openapiJson',
      summary: 'This document as JSON',
      tags,
      response: { 200: jsonText(documentSchema, 'the document'), 304: unchanged },
    },
    config,
    handler: async (_request, reply) => {
      if (json === undefined) await stay(reply);
      json ??= tagged(documentOf(app));
      return sendDocument(reply.type('application/json; charset=utf-8'), json);
    },
  });
  apiRoute(app, {
    method: 'GET',
    url: '/openapi.yaml',
    schema: {
      operationId: 'openapiYaml',
      summary: 'This document as YAML',
      tags,
      response: { 200: yamlAnswer, 304: unchanged },
    },
    config,
    handler: async (_request, reply) => {
      if (yaml === undefined) await stay(reply);
      yaml ??= tagged(app.swagger({ yaml: true }));
      return sendDocument(reply.type('application/yaml; charset=utf-8'), yaml);
    },
  });
  app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', policies).header('cross-origin-opener-policy', 'same-origin');
    });
    await scope.register(swaggerUi, {
      routePrefix: prefix,
      uiConfig: {
        // this layout has no bar that offers documents of other services
        layout: 'BaseLayout',
        deepLinking: true,
        docExpansion: 'none',
        tagsSorter: undefined,
        displayRequestDuration: true,
      },
      theme: {
        title: 'Satscribe API',
        favicon: [{ filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: icon }],
        js: [{ filename: 'viewport.js', content: viewport }],
      },
    });
  });
}

/**
 * How long a client must stay connected before the document is made, in ms. Making the document blocks the event loop
 * for 300 ms, but only once.
 */
const stayMs = 100;

/** Waits `stayMs`. Throws the signal's reason if the client disconnected. */
async function stay(reply: FastifyReply): Promise<void> {
  const { signal } = askerOf(reply);
  await pause(stayMs, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

interface TaggedText {
  readonly text: string;
  readonly tag: string;
}

function tagged(text: string): TaggedText {
  return { text, tag: textTag(text) };
}

function sendDocument(reply: FastifyReply, { text, tag }: TaggedText): FastifyReply {
  reply.header('cache-control', 'no-cache').header('etag', tag);
  const isKnown = matchesTag(reply.request.headers['if-none-match'], tag);
  return isKnown ? reply.removeHeader('content-type').code(304).send() : reply.send(text);
}

/** The document as text, with the same bytes as docs/openapi.json. */
export function documentOf(app: App): string {
  return `${JSON.stringify(app.swagger(), null, 1)}\n`;
}
