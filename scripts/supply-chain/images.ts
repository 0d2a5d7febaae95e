import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A base image or an image of a service. */
export interface NamedImage {
  readonly file: string;
  readonly name: string;
  /** Whether the name contains the digest of the image: `NAME@sha256:…`. */
  readonly isPinned: boolean;
}

const named: Readonly<Record<string, RegExp>> = {
  Dockerfile: /^FROM\s+(?:--\S+\s+)?(\S+)/gmu,
  'docker-compose.yml': /^\s+image:\s+(\S+)/gmu,
};

/** The images that come from a registry. `satscribe` is built here. */
export function namedImages(root: string): NamedImage[] {
  return Object.entries(named).flatMap(([file, pattern]) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'satscribe')
      .map((name) => ({ file, name, isPinned: /@sha256:[0-9a-f]{64}$/u.test(name) })),
  );
}
