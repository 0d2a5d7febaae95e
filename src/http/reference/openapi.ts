import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { App } from '#http/server/app-dependencies.ts';

const description = `Satscribe indexes Bitcoin inscriptions and answers exactly what ord answers, with searches beside it.

Paths of the public interface (searches) and of ord keep their own forms; everything else is ours, in camelCase. Answers are JSON
unless said otherwise, and CORS is \`*\` without credentials everywhere. ord's pages answer JSON to \`Accept: application/json\`.`;

const tags = [
  { name: 'search', description: 'Contents and metadata by text and by hash' },
  { name: 'inscriptions', description: 'Lists of inscriptions, and where one was' },
  { name: 'addresses', description: 'What an address holds' },
  { name: 'content', description: 'What was inscribed, as it is' },
  { name: 'ord', description: 'ord’s JSON API' },
  { name: 'events', description: 'What every block did' },
  { name: 'mempool', description: 'What no block has yet' },
  { name: 'status', description: 'The tip, health and measurements' },
  { name: 'pages', description: 'Pages for people; most are JSON for programs' },
  { name: 'reference', description: 'This document' },
];

/**
 * Builds the document (OpenAPI 3.1) from the definitions of all routes registered after this call. `app.swagger()`
 * returns it once the app is ready.
 */
export function describeRoutes(app: App, version: string): void {
  app.register(swagger, {
    convertConstToEnum: false,
    transformObject: (parts) =>
      'openapiObject' in parts ? withSharedErrors(parts.openapiObject) : parts.swaggerObject,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Satscribe', version, description, license: { name: 'MIT', identifier: 'MIT' } },
      tags,
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'docs/access.md' },
        },
      },
    },
  });
}

interface Operation {
  readonly responses?: Record<string, unknown>;
}

/** Errors shared by many paths are in the document once, under the name of their status. */
function withSharedErrors<Document extends { readonly paths?: object; readonly components?: object }>(
  document: Document,
): Document {
  const names = new Map<string, string>();
  const shared: Record<string, unknown> = {};
  const nameOf = (status: string, response: unknown): string => {
    const text = JSON.stringify(response);
    const known = names.get(text);
    if (known !== undefined) return known;
    const base = (STATUS_CODES[status] ?? status).replaceAll(/\W/gu, '');
    let name = base;
    for (let count = 2; name in shared; count++) name = `${base}${count}`;
    names.set(text, name);
    shared[name] = response;
    return name;
  };
  for (const path of Object.values((document.paths ?? {}) as Record<string, Record<string, Operation>>)) {
    for (const { responses = {} } of Object.values(path)) {
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        responses[status] = { $ref: `#/components/responses/${nameOf(status, response)}` };
      }
    }
  }
  return { ...document, components: { ...document.components, responses: shared } };
}
