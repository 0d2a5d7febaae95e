-- What an account may do about its withdrawals by its own key (docs/tokenpay.md, "Addresses" and "Cancelling").

-- The time from which withdrawals to an address are paid. Of those that an account lists by its key, the first counts at
-- once, and others a day later: a stolen key adds none that is paid before its owner sees it. The operator's count at once.
ALTER TABLE service.withdrawal_addresses ADD counts_at timestamptz NOT NULL DEFAULT now();
UPDATE service.withdrawal_addresses SET counts_at = added_at;

-- Changes of the list of an account wait for each other, by its row. The role that answers requests changes the list by
-- these functions alone: whatever it is made to ask for, the day passes, and one that counts is left.

-- Lists an address; returns it as it is listed. Empty: the account has 100 already.
CREATE FUNCTION service.list_withdrawal_address(of_account text, of_script bytea, of_address text)
  RETURNS SETOF service.withdrawal_addresses
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  listed integer;
BEGIN
  PERFORM FROM service.accounts WHERE name = of_account FOR NO KEY UPDATE;
  SELECT count(*) INTO listed FROM service.withdrawal_addresses WHERE account = of_account;
  IF listed < 100 THEN
    INSERT INTO service.withdrawal_addresses (account, script, address, counts_at)
    VALUES (of_account, of_script, of_address, now() + CASE listed WHEN 0 THEN interval '0' ELSE interval '24 hours' END)
    ON CONFLICT (account, script) DO NOTHING;
  END IF;
  RETURN QUERY SELECT a.* FROM service.withdrawal_addresses AS a WHERE a.account = of_account AND a.script = of_script;
END $$;
REVOKE EXECUTE ON FUNCTION service.list_withdrawal_address(text, bytea, text) FROM PUBLIC;

-- Deletes an address where another one that counts is left: without any, the account would withdraw to every address.
CREATE FUNCTION service.delete_withdrawal_address(of_account text, of_script bytea) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM FROM service.accounts WHERE name = of_account FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM service.withdrawal_addresses WHERE account = of_account AND script = of_script) THEN
    RETURN 'unknown';
  END IF;
  IF NOT EXISTS (SELECT FROM service.withdrawal_addresses
                  WHERE account = of_account AND script <> of_script AND counts_at <= now()) THEN
    RETURN 'last';
  END IF;
  DELETE FROM service.withdrawal_addresses WHERE account = of_account AND script = of_script;
  RETURN 'deleted';
END $$;
REVOKE EXECUTE ON FUNCTION service.delete_withdrawal_address(text, bytea) FROM PUBLIC;

-- The wish of an account to cancel a withdrawal of which nothing was signed. From then on nothing of it is signed.
ALTER TABLE service.withdrawals ADD cancel_asked_at timestamptz;
CREATE INDEX withdrawals_cancelling ON service.withdrawals (cancel_asked_at) WHERE state = 'pending' AND cancel_asked_at IS NOT NULL;
