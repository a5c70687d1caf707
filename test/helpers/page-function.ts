/** Source that answers what the body of an async function returns. */
export const asFunction = (body: string) => `(async () => { ${body} })()`;
