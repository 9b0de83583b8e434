// Requests, right and wrong, to any endpoint, as HTTP and as bytes, on one service.

import './requests/interface.ts';
