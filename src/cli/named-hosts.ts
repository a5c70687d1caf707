/** Parses `PLACARD_WEBHOOK_PRIVATE_HOSTS`: comma-separated host names and addresses. */
export const namedHosts = (text: string | undefined): ReadonlySet<string> =>
  new Set(
    (text ?? '')
      .split(',')
      .map((host) => host.trim().toLowerCase())
      .filter((host) => host !== ''),
  );
