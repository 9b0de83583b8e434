// An application with documents, each readable by its viewers, on an embedded Tomcat. Here the subject comes from a header;
// take it from your session.

package io.github.grantd.examples;

import io.github.grantd.Grantd;
import io.github.grantd.Guard;
import io.github.grantd.servlet.RequiresFilter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.catalina.startup.Tomcat;

public final class Documents {
    private static final String PATHS = "/documents/*";

    private Documents() {}

    private static String idOf(HttpServletRequest request) {
        return request.getPathInfo() == null ? "" : request.getPathInfo().substring(1);
    }

    private static final class Pages extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().println("This is " + idOf(request) + ".");
        }
    }

    public static void main(String[] args) throws Exception {
        Grantd grantd = Grantd.fromEnvironment();
        Guard guard = new Guard(grantd, error -> System.err.println(error));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("documents").toString());
        tomcat.setPort(Integer.parseInt(System.getenv().getOrDefault("PORT", "0")));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        RequiresFilter viewers = new RequiresFilter(
            guard, request -> request.getHeader("X-Subject"), "viewer", request -> "document:" + idOf(request));
        tomcat.addContext("", null).addServletContainerInitializer((classes, context) -> {
            context.addServlet("documents", new Pages()).addMapping(PATHS);
            context.addFilter("viewers", viewers).addMappingForUrlPatterns(null, false, PATHS);
        }, null);
        tomcat.start();
        System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort());
        tomcat.getServer().await();
    }
}
