import { expect, test } from 'vitest';
import { storedPassword } from '#kernel/pg/scram.ts';

test('has the form that Postgres stores, or stays a password if that has several forms', () => {
  // stored by PostgreSQL 18: CREATE ROLE with password 'pencil', then rolpassword of pg_authid
  const salt = Buffer.from('H8iUbQ4jAWmnM6gWbuP5Tg==', 'base64');
  expect(storedPassword('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:H8iUbQ4jAWmnM6gWbuP5Tg==$ThrmfMLyJecZ9Jc3sM1QMg/SJtpkUu/t7l3FkJl5fTM=:/8OgQuftaSPk0d0cMEK1UoEay4thj+TjfkqbBNYK9WM=',
  );
  expect(storedPassword('pencil')).not.toBe(storedPassword('pencil'));
  expect(storedPassword('münze')).toBe('münze');
});
