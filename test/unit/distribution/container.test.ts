import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configSchema } from '#config/config.ts';

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

/** Files that the image copies from the checkout: the sources of COPY that are not from an earlier stage. */
function copied(): string[] {
  return [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+)$/gmu)].flatMap(([, words]) =>
    words!.split(' ').slice(0, -1),
  );
}

/** Variables that docker-compose.yml sets for the service. */
function givenSettings(): string[] {
  const service = read('docker-compose.yml').split(/^ {2}satscribe:$/mu)[1]!;
  const environment = service.split(/^ {4}environment:$/mu)[1]!.split(/^ {4}\w/mu)[0]!;
  return [...environment.matchAll(/^ {6}([A-Z_]+):/gmu)].map(([, name]) => name!);
}

const variableOf = (setting: string): string =>
  setting.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase();

describe('the image', () => {
  test('is made of what is there, and is let in by .dockerignore', () => {
    const letIn = new Set(read('.dockerignore').split('\n'));
    expect(copied().length).toBeGreaterThan(5);
    for (const path of copied()) {
      expect(existsSync(join(root, path)), path).toBe(true);
      expect(letIn.has(`!${path}`), path).toBe(true);
    }
  });

  test('has every folder that the program imports from', () => {
    const { imports } = JSON.parse(read('package.json')) as { imports: Record<string, string> };
    const development = ['./bench/*', './test/*', './scripts/*'];
    const folders = Object.values(imports)
      .filter((target) => !development.includes(target))
      .map((target) => target.split('/')[1]!);
    for (const folder of folders) expect(copied()).toContain(folder);
  });
});

test('docker-compose.yml gives settings that exist', () => {
  const known = Object.keys(configSchema.properties).map(variableOf);
  expect(givenSettings().length).toBeGreaterThan(5);
  for (const name of givenSettings()) expect(known).toContain(name);
});
