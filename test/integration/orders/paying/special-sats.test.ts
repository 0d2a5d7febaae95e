import { specialSats } from '#test/support/orders/paying/paid-kinds.ts';
import { testPayments } from '#test/support/orders/paying/test-payments.ts';

testPayments(specialSats);
