/** `/api/drafts/:campaignId` as a function that reads a path's parts: `null` where the path is another. */
export const matchPath = (pattern: string) => {
  const names = pattern.split('/');
  return (path: string): Record<string, string> | null => {
    const parts = path.split('/');
    if (parts.length !== names.length) return null;
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) {
      const part = parts[index]!;
      if (!name.startsWith(':')) {
        if (part !== name) return null;
        continue;
      }
      try {
        params[name.slice(1)] = decodeURIComponent(part);
      } catch {
        // A percent sign that begins nothing: no path of ours.
        return null;
      }
    }
    return params;
  };
};
