import type { Page } from 'playwright-core';

/** Everything a page complains about: errors, failed policies, dialogs. Call before `goto`; an empty list is health. */
export const watchPage = async (page: Page): Promise<string[]> => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction('placardComplain', (text: string) => complaints.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const complain = Reflect.get(window, 'placardComplain') as (text: string) => void;
      complain(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return complaints;
};
