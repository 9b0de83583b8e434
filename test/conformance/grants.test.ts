// Grants, checks, objects and namespaces, grants that expire, and conditions, on one service.

import './grants/conditions.ts';
import './grants/expiry.ts';
import './grants/resources.ts';
