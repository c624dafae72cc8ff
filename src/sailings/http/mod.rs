//! Handlers of routes, sailings and search, and of speedboats where sailings are affected.

mod boats;
mod extend;
mod routes;
mod search;

pub use boats::{delete_speedboat, speedboat_summary, update_speedboat};
pub use extend::extend_route;
pub use routes::{
    PathRoute, conflict, create_route, delete_route, get_route, list_routes, list_sailings,
    publish_route, publish_route_by_post, update_route,
};
pub use search::{first_day, list_locations, search_sailings};
