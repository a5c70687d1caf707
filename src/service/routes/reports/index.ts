import { campaignsDataSeries, campaignsDetails, campaignsList } from './campaigns.ts';
import { eventsDataSeries, eventsList, productList, quantitySeries, revenueSeries } from './events.ts';
import { segmentsDetails, segmentsList } from './segments.ts';
import { unmeasured } from './unmeasured.ts';

/** Reports in the format of the vendor's REST API. */
export const REPORTS = [
  campaignsList,
  campaignsDetails,
  campaignsDataSeries,
  segmentsList,
  segmentsDetails,
  eventsList,
  eventsDataSeries,
  productList,
  quantitySeries,
  revenueSeries,
  ...unmeasured,
];
