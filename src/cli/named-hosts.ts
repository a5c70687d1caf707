/** Parses `PLACARD_WEBHOOK_PRIVATE_HOSTS`: host names and addresses, separated by commas. */
export const namedHosts = (text: string | undefined): ReadonlySet<string> =>
  new Set(
    (text ?? '')
      .split(',')
      .map((host) => host.trim().toLowerCase())
      .filter((host) => host !== ''),
  );
