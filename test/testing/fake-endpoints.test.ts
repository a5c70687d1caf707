import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/testing/fake-endpoints.ts';
import { API_ROUTES } from '../helpers/api-routes.ts';

test.each(Object.entries(ENDPOINTS))('defines %s as the service does', (path, { method, dialect, key }) => {
  const route = API_ROUTES.find((each) => each.path === path);
  expect({ method, errorFormat: dialect, crossOrigin: key === 'client' }).toEqual({
    method: route?.method,
    errorFormat: route?.errorFormat,
    crossOrigin: route?.crossOrigin,
  });
});
